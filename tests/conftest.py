"""What tests share: free ports and a data root of their own."""

import pytest


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No test writes to the project's data folder or to its Dagster instance."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")

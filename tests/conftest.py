"""What tests share: a data root of their own, and a browser."""

import gc
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def pytest_configure() -> None:
    """Collect no garbage while tests are imported: nothing of that goes away again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """And seldom in between, leaving out what was imported: a tenth of the time went there."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No test writes to the project's data folder or to its Dagster instance."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for one module of tests.

    Playwright keeps an event loop running in this thread while it lives, in which Dagster cannot
    run anything: it has to be gone before another module's tests materialize assets.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(_QUIET)
        )
        yield browser
        browser.close()

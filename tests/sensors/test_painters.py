"""The sensor that makes a partition of every painter in models.yaml."""

import pytest
from dagster import (
    DagsterInstance,
    DefaultSensorStatus,
    SensorResult,
    SkipReason,
    build_sensor_context,
)

from resources.models.catalog import CatalogError
from sensors.painters import noticing

PAINTER = "- {{name: {0}, backend: openai, model: {0}, family: some, roles: [painter]}}\n"
JUDGE = "- {name: prior, backend: offline, model: prior, family: reference, roles: [judge]}\n"


@pytest.fixture
def tick(tmp_path):
    """One tick with some entries in models.yaml: what it says, and the painters after it."""
    path = tmp_path / "models.yaml"
    sensor = noticing(lambda: path)
    with DagsterInstance.ephemeral() as instance:

        def tick(entries):
            path.write_text(entries)
            with build_sensor_context(instance=instance) as context:
                said = sensor(context)
            if isinstance(said, SensorResult):
                assert not said.run_requests
                for request in said.dynamic_partitions_requests:
                    name = request.partitions_def_name
                    instance.add_dynamic_partitions(name, request.partition_keys)
            return said, set(instance.get_dynamic_partitions("painters"))

        yield tick


def test_a_new_painter_gets_a_partition_and_none_is_taken_away(tick):
    _, painters = tick(JUDGE + PAINTER.format("flux"))
    assert painters == {"flux"}
    said, painters = tick(JUDGE + PAINTER.format("flux"))
    assert isinstance(said, SkipReason)
    assert "No new painter: there is flux." in said.skip_message
    _, painters = tick(PAINTER.format("gemini"))
    assert painters == {"flux", "gemini"}


def test_without_painters_it_says_so(tick):
    said, painters = tick(JUDGE)
    assert "there is none yet" in said.skip_message
    assert painters == set()


def test_a_faulty_file_is_named(tick):
    with pytest.raises(CatalogError, match=r"models\.yaml, line 1"):
        tick("- {name: flux}")


def test_it_runs_by_itself(tmp_path):
    assert noticing(lambda: tmp_path).default_status is DefaultSensorStatus.RUNNING

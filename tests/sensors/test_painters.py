"""The sensor that makes a partition of every painter, and has new ones quoted."""

import time

import pytest
from dagster import DefaultSensorStatus, SensorResult, SkipReason, build_sensor_context

from assets.kit.partitions import add_painters
from resources.models.catalog import CatalogError
from sensors import painters as painters_module
from sensors.painters import painters_sensor
from tests.providers import Provider
from tests.resources.models.test_patterns import PATTERN
from tests.sensors.bench import ASSETS, PRIOR, SEER, SKETCH, painter


@pytest.fixture
def tick(bench):
    """One tick with some entries in models.yaml: what it says, and the painters after it."""
    sensor, cursors = painters_sensor(bench.files, ASSETS), [None]

    def tick(*entries):
        bench.models(*entries)
        with build_sensor_context(instance=bench.instance, cursor=cursors[-1]) as context:
            said = sensor(context)
            cursors.append(context.cursor)
        if isinstance(said, SensorResult):
            for request in said.dynamic_partitions_requests:
                bench.noticed(*request.partition_keys)
            for request in said.run_requests:
                bench.ran(request)
        return said, set(bench.instance.get_dynamic_partitions("painters"))

    return tick


def test_a_new_painter_gets_a_partition_and_none_is_taken_away(tick):
    _, painters = tick(PRIOR, painter("flux"))
    assert painters == {"flux"}
    said, painters = tick(PRIOR, painter("flux"))
    assert isinstance(said, SkipReason)
    assert "No new painter: there is flux." in said.skip_message
    _, painters = tick(painter("gemini"))
    assert painters == {"flux", "gemini"}


def test_each_new_painter_is_quoted_once(tick):
    said, _ = tick(PRIOR, SEER, painter("flux"), painter("gpt", price={}))
    assert [request.run_key for request in said.run_requests] == ["quote flux", "quote gpt"]
    assert {request.job_name for request in said.run_requests} == {"quote"}
    config = said.run_requests[0].run_config["ops"]["quote"]["config"]
    assert config["select"] == (
        'key:"protobias/image_pairs" or key:"protobias/filtered_pairs" or '
        'key:"protobias/scores_prior" or key:"protobias/scores_seer"'
    )
    assert config["partitions"] == ["animals|flux", "demography|flux", "objects|flux"]
    said, _ = tick(PRIOR, SEER, painter("flux"), painter("gpt", price={}))
    assert isinstance(said, SkipReason)


def test_a_painter_whose_partitions_a_command_made_is_quoted_as_well(tick, bench):
    bench.models(painter("flux"), SKETCH)
    add_painters(bench.instance, bench.files.load())
    said, _ = tick(painter("flux"), SKETCH)
    assert said.dynamic_partitions_requests == []
    assert [request.run_key for request in said.run_requests] == ["quote flux"]
    said, _ = tick(painter("flux"), SKETCH)
    assert isinstance(said, SkipReason)


def test_what_runs_offline_is_not_quoted(tick):
    said, painters = tick(SKETCH)
    assert painters == {"sketch"}
    assert not said.run_requests


def test_without_painters_it_says_so(tick):
    said, painters = tick(PRIOR)
    assert "there is none yet" in said.skip_message
    assert painters == set()


def test_a_faulty_file_is_named(tick):
    with pytest.raises(CatalogError, match=r"models\.yaml, line 1"):
        tick({"name": "flux"})


def test_it_runs_by_itself(bench):
    assert painters_sensor(bench.files, ASSETS).default_status is DefaultSensorStatus.RUNNING


def test_what_a_list_has_that_a_pattern_matches_is_a_painter(tick, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    now = time.time()
    monkeypatch.setattr(painters_module.time, "time", lambda: now)
    with Provider() as provider:
        provider.models["openai"] = ["gpt-5-mini", "gpt-image-2"]
        pattern = {**PATTERN, "base_url": provider.openai_url}
        said, painters = tick(pattern, {**pattern, "pattern": "flux*"})
        assert painters == {"gpt_image_2"}
        assert said.run_requests[0].run_key == "quote gpt_image_2"
        provider.models["openai"].append("gpt-image-3")
        said, painters = tick(pattern)
        assert provider.count == 1, "a list is read once a minute"
        assert "flux* in" in said.skip_message, "what was wrong with it is still said"
        now += 61
        _, painters = tick(pattern)
        assert painters == {"gpt_image_2", "gpt_image_3"}
        assert provider.count == 2
        now += 61
        provider.models["openai"].clear()
        said, painters = tick(pattern)
        assert painters == {"gpt_image_2", "gpt_image_3"}
        assert "matches none" in said.skip_message
        assert {received.task for received in provider.received} == {"models"}

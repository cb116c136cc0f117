"""A text-to-image model lands: noticed and quoted, and where that is on painted to the report."""

import json

import pandas as pd
import pytest
from dagster import AssetKey, DagsterRunStatus
from dagster._core.scheduler.instigation import SensorInstigatorData

from generators.prompts.concepts import DOMAINS
from resources.models.catalog import load_catalog
from tests.e2e.painters import EARLIER, JUDGE, NEW, OLD, PATTERN, QUOTED
from tests.e2e.story import CANARY
from tests.runs import failure, materialize
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

PAINTED, BACKFILLED = PROMPTED = ("animals", "objects")
UNDER_WAY = (DagsterRunStatus.QUEUED, DagsterRunStatus.STARTING, DagsterRunStatus.STARTED)
PAIRS = AssetKey(["protobias", "image_pairs"])
SMALL = {
    "concepts": {"instances": 1},
    "prompt_triplets": {"writer": "writer"},
    "image_pairs": {"samples": 1},
}

_SENSOR = """
mutation Start($selector: SensorSelector!) {
  startSensor(sensorSelector: $selector) { __typename ... on Sensor { sensorState { status } } }
}
"""

_BACKFILL = """
mutation Backfill($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on PythonError { message }
  }
}
"""

_MONTHLY = """
mutation Monthly($selector: ScheduleSelector!, $at: Float) {
  scheduleDryRun(selectorData: $selector, timestamp: $at) {
    __typename
    ... on DryRunInstigationTick {
      evaluationResult { runRequests { runKey tags { key value } } error { message } }
    }
  }
}
"""


def selector(kind, name):
    location = {"repositoryName": "__repository__", "repositoryLocationName": "definitions.py"}
    return {**location, f"{kind}Name": name}


def tick_soon(instance, name):
    """Let the daemon look at a sensor at once: as one that has never been looked at."""
    for state in instance.all_instigator_state():
        if state.instigator_name == name:
            instance.update_instigator_state(state.with_data(SensorInstigatorData()))


def launched_on(instance, condition):
    """Whether a condition holds; else what follows is launched at once, once it can be."""
    if found := condition():
        return found
    if not any(run.status in UNDER_WAY for run in instance.get_runs()):
        tick_soon(instance, "new_painters")
    return None


def made_before(story, instance):
    """Triplets of some domains, and an earlier painter's pictures of one of these."""

    def make(topic, *names):
        result = materialize(
            story.home,
            *names,
            topic=topic,
            models=load_catalog(story.models).models,
            config={name: SMALL[name] for name in names if name in SMALL},
            instance=instance,
            group="protobias",
        )
        assert result.success, failure(result)

    for domain in PROMPTED:
        make(domain, "concepts", "prompt_triplets")
    make(f"{PAINTED}|old", "image_pairs", "filtered_pairs", "scores_gpt")
    make("old", "summary")


def test_a_painter_that_lands_is_quoted_and_where_that_is_on_painted_to_the_report(
    story, server, monkeypatch
):
    provider, filled = story.provider, f"{BACKFILLED}|old"
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    # Without references, which would score each domain as well.
    story.write_models(EARLIER, PATTERN)
    with story.instance() as instance:
        made_before(story, instance)
        prepared = provider.count
        backfill(server, filled)
        provider.models["openai"].append(QUOTED)
        quoted = server.said(landed(instance, "gpt_image_2"))
        assert "protobias/image_pairs" in quoted
        assert f"{BACKFILLED}|gpt_image_2" in quoted
        # Nobody has opted in: nobody was asked but for the domain that is to be filled.
        assert set(story.requests(prepared)) <= {OLD}
        # A sample this small is for new painters once an earlier one has painted it.
        wait_for(lambda: filled in instance.get_materialized_partitions(PAIRS), poll_s=1)
        lacking = {f"{domain}|gpt_image_2" for domain in PROMPTED}
        assert set(monthly(server)) - {filled} == lacking

        # What has no price any more is not launched, whatever is on.
        unpriced = PATTERN.replace("gpt-image-", "gpt-image-2").partition("  price")[0]
        story.write_models(EARLIER, unpriced, PATTERN)
        said = server.graphql(_SENSOR, selector=selector("sensor", "new_painters"))
        assert said["startSensor"]["__typename"] == "Sensor", said
        provider.models["openai"].append(NEW)
        landed(instance, "gpt_image_3")
        wait_for(lambda: launched_on(instance, lambda: reported(server)), poll_s=1)
    painted = {each.texts[0] for each in provider.received[prepared:] if each.model == OLD}
    assert painted == sentences(server, BACKFILLED)
    of_each = len(PROMPTED)
    assert story.requests(prepared) == {OLD: 2, NEW: 2 * of_each, JUDGE: 4 * of_each}
    scores = [table(server, "scores_gpt", f"{domain}/gpt_image_3") for domain in PROMPTED]
    assert all(len(rows) == 2 and set(rows["outcome"]) == {"scored"} for rows in scores)
    pairs = server.home / "protobias" / "image_pairs"
    assert {path.stem for path in pairs.glob("*/*.parquet")} == {"gpt_image_3", "old"}
    assert {path.parent.name for path in pairs.glob("*/*.parquet")} == set(PROMPTED) < set(DOMAINS)


def backfill(server, partition):
    """What the button does that materializes one domain of a painter."""
    params = {"assetSelection": [{"path": ["protobias", "image_pairs"]}]}
    config = {"ops": {"protobias__image_pairs": {"config": SMALL["image_pairs"]}}}
    params |= {"partitionNames": [partition], "runConfigData": json.dumps(config)}
    said = server.graphql(_BACKFILL, params=params)["launchPartitionBackfill"]
    assert said["__typename"] == "LaunchBackfillSuccess", said


def landed(instance, name):
    """Wait until a painter has its partition and its quote; returns the run that quoted it."""

    tick_soon(instance, "painters")

    def quote():
        return [
            run.run_id
            for run in instance.get_runs()
            if run.job_name == "quote" and name in str(run.run_config) and run.is_success
        ]

    [run] = wait_for(quote, poll_s=1)
    assert name in instance.get_dynamic_partitions("painters")
    return run


def monthly(server):
    """What the schedule would ask for, by partition."""
    said = server.graphql(
        _MONTHLY, selector=selector("schedule", "missing_pairs"), at=1_800_000_000.0
    )["scheduleDryRun"]
    result = said["evaluationResult"]
    assert result["error"] is None, result["error"]
    tags = [{tag["key"]: tag["value"] for tag in each["tags"]} for each in result["runRequests"]]
    return [each["dagster/partition"] for each in tags]


def table(server, name, partition):
    return pd.read_parquet(server.home / "protobias" / name / f"{partition}.parquet")


def sentences(server, domain):
    rows = table(server, "prompt_triplets", domain)
    return set(rows["correct"]) | set(rows["adversarial"])


def reported(server):
    page = server.home / "report" / "protobias" / "index.html"
    return page.exists() and "gpt_image_3" in page.read_text(encoding="utf-8")

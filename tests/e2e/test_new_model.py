"""A text-to-image model lands: noticed and quoted, and where that is on painted to the report."""

import json
import time
from collections import Counter

import pandas as pd
import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus
from dagster._core.scheduler.instigation import SensorInstigatorData

from assets.protobias.concepts import Sampling, sampled
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import load
from tests.assets.written import Author
from tests.e2e.server import configured, serving
from tests.providers import Provider, default_answer
from tests.runs import failure, materialize

OLD, QUOTED, NEW = "gpt-image-1.5", "gpt-image-2", "gpt-image-3"
WRITER, SEER = "gpt-writer", "gpt-seer"
WITHIN_S = 480
UNDER_WAY = (DagsterRunStatus.QUEUED, DagsterRunStatus.STARTING, DagsterRunStatus.STARTED)
PAIRS = AssetKey(["protobias", "image_pairs"])
EARLIER = """
- name: writer
  backend: openai
  model: gpt-writer
  family: gpt
  roles: [writer]
  base_url: URL
- name: seer
  backend: openai
  model: gpt-seer
  family: gpt
  roles: [judge, captioner]
  base_url: URL
  price: {input_per_million: 1.0, output_per_million: 4.0}
- name: old
  backend: openai
  model: gpt-image-1.5
  family: gpt
  roles: [painter]
  parameters: {size: 64x64}
  base_url: URL
  price: {per_image: {64x64: 0.01}}
"""
PATTERN = """
- pattern: gpt-image-*
  backend: openai
  family: gpt
  roles: [painter]
  parameters: {size: 64x64}
  base_url: URL
  price: {per_image: {64x64: 0.01}}
"""
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


def written(provider, *entries):
    return "".join(entries).replace("URL", provider.openai_url)


class Answers:
    """Triplets, verdicts and pictures, each as it is asked for."""

    def __init__(self):
        one_each = [next(iter(sampled(domain, Sampling(instances=1)))) for domain in DOMAINS]
        self._author = Author(one_each)

    def __call__(self, received):
        if received.model == WRITER:
            return self._author(received)
        if received.model != SEER:
            return default_answer(received)
        judged = "from 1 to 4" in received.texts[0]
        return json.dumps({"score": 2 + int(received.digest, 16) % 3 if judged else 9})


@pytest.fixture
def provider():
    with Provider(Answers()) as provider:
        provider.models["openai"] = ["gpt-5-mini", OLD]
        yield provider


def asked(provider, since=0):
    """How many requests each model got."""
    return Counter(each.model for each in provider.received[since:] if each.task != "models")


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(1)
    return found


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


def made_before(folder, models, instance):
    """Triplets of all domains, and two domains of an earlier painter: one is never painted."""
    instance.add_dynamic_partitions("painters", ["old"])

    def make(topic, *names):
        result = materialize(
            folder / "data",
            *names,
            topic=topic,
            models=models,
            config={name: SMALL[name] for name in names if name in SMALL},
            instance=instance,
            group="protobias",
        )
        assert result.success, failure(result)

    for domain in DOMAINS:
        make(domain, "concepts", "prompt_triplets")
    for domain in ("animals", "demography"):
        make(f"{domain}|old", "image_pairs", "filtered_pairs", "scores_seer")
    make("old", "summary")


def test_a_painter_that_lands_is_quoted_and_where_that_is_on_painted_to_the_report(
    provider, tmp_path, monkeypatch
):
    models = tmp_path / "models.yaml"
    models.write_text(written(provider, EARLIER, PATTERN))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with DagsterInstance.from_config(str(configured(tmp_path / "instance"))) as instance:
        made_before(tmp_path, load(models).models, instance)
        prepared = provider.count
        with serving(tmp_path, COUNTERFACTORY_MODELS=str(models)) as server:
            backfill(server, "objects|old")
            provider.models["openai"].append(QUOTED)
            quoted = server.said(landed(instance, "gpt_image_2"))
            assert "protobias/image_pairs" in quoted
            assert "objects|gpt_image_2" in quoted
            # Nobody has opted in: nobody was asked but for the domain that is to be filled.
            assert set(asked(provider, prepared)) <= {OLD}
            # A sample this small is for new painters once an earlier one has painted it.
            wait_for(lambda: "objects|old" in instance.get_materialized_partitions(PAIRS), WITHIN_S)
            lacking = {f"{domain}|gpt_image_2" for domain in DOMAINS}
            assert set(monthly(server)) - {"objects|old"} == lacking

            began = time.monotonic()
            # What has no price any more is not launched, whatever is on.
            unpriced = PATTERN.replace("gpt-image-", "gpt-image-2").partition("  price")[0]
            models.write_text(written(provider, EARLIER, unpriced, PATTERN))
            said = server.graphql(_SENSOR, selector=selector("sensor", "new_painters"))
            assert said["startSensor"]["__typename"] == "Sensor", said
            provider.models["openai"].append(NEW)
            landed(instance, "gpt_image_3")
            wait_for(lambda: launched_on(instance, lambda: reported(server)), WITHIN_S)
            assert time.monotonic() - began < WITHIN_S
            wait_for(lambda: "objects|old" in instance.get_materialized_partitions(PAIRS), WITHIN_S)
            filled = {each.texts[0] for each in provider.received[prepared:] if each.model == OLD}
            assert filled == sentences(server, "objects")
        scores = [table(server, "scores_seer", f"{domain}/gpt_image_3") for domain in DOMAINS]
    assert asked(provider, prepared) == {OLD: 2, NEW: 2 * len(DOMAINS), SEER: 4 * len(DOMAINS)}
    assert all(len(rows) == 2 and set(rows["outcome"]) == {"scored"} for rows in scores)
    pairs = server.home / "protobias" / "image_pairs"
    assert {path.stem for path in pairs.glob("*/*.parquet")} == {"gpt_image_3", "old"}


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

    [run] = wait_for(quote, WITHIN_S)
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

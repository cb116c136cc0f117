"""Which runs one judge over everything begins; tests of the command say what comes of them."""

import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance, Definitions

from assets.kit.benchmarks import load_benchmarks
from assets.kit.judge_tasks import JudgeTaskFinder
from assets.planning.judge_quote import JudgeScope, quote_judge
from assets.vlmbias.questions import QUESTIONS
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from sensors.judge_runs import JudgeRuns
from sensors.run_launcher import SharedBudget
from tests.assets.asked import adapter_below
from tests.assets.plans import definitions_of, plan_context
from tests.runs import table

SHOWN = {"animals": "a" * 64, "flags": "b" * 64, "logos": "c" * 64}
TUNED = Model(
    name="tuned",
    backend="transformers",
    model="some-vlm",
    family="some",
    roles=("judge",),
    parameters={"adapter": "adapters/tuned-0"},
)


@pytest.fixture
def judging(tmp_path, monkeypatch):
    """Gives the quote and the runs of a judge that was trained on pictures of some topics."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    for topic, shown in SHOWN.items():
        path = table(tmp_path, "questions", topic=topic)
        path.parent.mkdir(parents=True, exist_ok=True)
        row = {"image_id": f"{topic}/one", "sha256": shown, "domain": topic, "question_id": "Q1"}
        pq.write_table(
            QUESTIONS.build_table([{**row, "question": "?", "is_stand_in": False}]), path
        )
    catalog = Catalog((TUNED,))

    def trained_on(*topics):
        adapter_below(tmp_path, *(SHOWN[topic] for topic in topics))
        assets = definitions_of(catalog)
        defs = Definitions(
            assets=[*assets.values()], resources=build_default_resources(str(tmp_path))
        )
        graph = defs.resolve_asset_graph()
        task_finder = JudgeTaskFinder(catalog, sources.home, instance, assets)
        found = quote_judge(task_finder, sources, JudgeScope(TUNED, [load_benchmarks()["vlmbias"]]))
        return found, JudgeRuns(graph, task_finder, found, SharedBudget(None, None, lambda runs: 0))

    with DagsterInstance.ephemeral() as instance, plan_context(tmp_path) as sources:
        yield trained_on


def asked(judging):
    """The partitions that are asked about."""
    return {
        run.partition
        for run in judging.select_runs()
        for key in run.assets
        if "tuned" in key.path[1]
    }


def test_what_its_own_quote_says_would_be_refused_is_not_begun_but_told_of(judging):
    found, runs = judging("flags", "logos")
    assert asked(runs) == {"animals"}
    (line,) = found.quote.lines
    assert (line.partition, line.requests) == ("1 of 7 partitions", 1)
    told = dict(zip(("flags", "logos"), runs.messages, strict=True))
    for topic, said in told.items():
        assert said.startswith(f"Not begun: vlmbias/answers_tuned ({topic}). 1 pictures of {topic}")


def test_where_all_of_it_would_be_refused_nothing_is_begun(judging):
    _, runs = judging(*SHOWN)
    assert asked(runs) == set()
    assert [said.partition(":")[0] for said in runs.messages] == ["VLMBias"]


def test_what_would_not_be_refused_is_begun(judging):
    _, runs = judging()
    assert asked(runs) == {*SHOWN}
    assert not runs.messages

"""Whether Dagster says that a report is out of date once what it shows has changed."""

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

import assets
from assets import protobias, vlmbias
from assets.protobias.scores import SCORES
from resources.models.catalog import Catalog
from resources.models.reference_judges import PriorJudge
from resources.settings.default_resources import build_default_resources
from tests.assets.protobias.test_report import SCORERS, Tables
from tests.runs import STAND_INS, TOPIC, copied, failure, materialize, table

ANSWERS, ACCURACY, REPORT = "answers_prior", "accuracy", "report"
FRESH, STALE = StaleStatus.FRESH, StaleStatus.STALE


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def graph(*more):
    made = [*dg.load_assets_from_package_module(assets), *more]
    return dg.Definitions(
        assets=made, resources=build_default_resources("/nowhere")
    ).resolve_asset_graph()


def status(instance, name):
    loaded = graph(*vlmbias.BENCHMARK.build_definitions(Catalog(STAND_INS)))
    resolver = CachingStaleStatusResolver(instance, loaded, LoadingContextForTest(instance))
    return resolver.get_status(dg.AssetKey(["vlmbias", name]))


def version(result, node):
    assert result.success, failure(result)
    (event,) = result.asset_materializations_for_node(node)
    return event.tags["dagster/data_version"]


def test_a_report_is_stale_once_a_judge_has_said_other_words(made, tmp_path, instance, monkeypatch):
    root = copied(made, tmp_path / "root")

    def make(name, topic=None):
        return version(materialize(root, name, topic=topic, instance=instance), f"vlmbias__{name}")

    make(ANSWERS, TOPIC)
    before = make(ACCURACY)
    make(REPORT)
    assert (status(instance, ACCURACY), status(instance, REPORT)) == (FRESH, FRESH)
    figures = pd.read_parquet(root / "vlmbias" / "accuracy.parquet")
    say = PriorJudge.answer_informed
    monkeypatch.setattr(
        PriorJudge, "answer_informed", lambda *asked: f"I can see {say(*asked)} of them."
    )
    make(ANSWERS, TOPIC)
    assert pd.read_parquet(table(root, ANSWERS))["response"].str.startswith("I can see").all()
    assert status(instance, ACCURACY) is STALE
    assert make(ACCURACY) != before
    assert figures.equals(pd.read_parquet(root / "vlmbias" / "accuracy.parquet"))
    assert (status(instance, ACCURACY), status(instance, REPORT)) == (FRESH, STALE)
    make(REPORT)
    assert status(instance, REPORT) is FRESH


def test_questions_of_before_lack_a_column_and_are_summarized(made, tmp_path, instance):
    root = copied(made, tmp_path / "root")
    at = table(root, "questions")
    pq.write_table(pq.read_table(at).drop_columns(["disputable"]), at)
    result = materialize(root, ACCURACY, instance=instance)
    assert result.success, failure(result)


def test_a_summary_is_another_once_a_score_has_other_words(tmp_path, instance):
    tables = Tables(tmp_path)
    tables.make()
    instance.add_dynamic_partitions("painters", ["flux"])

    def make():
        result = materialize(
            tmp_path,
            "summary",
            topic="flux",
            models=SCORERS,
            instance=instance,
            group="protobias",
        )
        return version(result, "protobias__summary")

    before = make()
    figures = pd.read_parquet(tables.path("summary", "flux"))
    assert make() == before
    at = tables.path(f"scores_{SCORERS[0].name}", "animals", "flux")
    scores = pq.read_table(at).to_pandas()
    scores["response"] = "It shows what the text says."
    tables.store(SCORES, scores, f"scores_{SCORERS[0].name}/animals", "flux")
    assert make() != before
    assert figures.equals(pd.read_parquet(tables.path("summary", "flux")))


def test_the_report_on_painters_hangs_on_what_no_summary_tells():
    loaded = graph(*protobias.BENCHMARK.build_definitions(Catalog(tuple(SCORERS))))
    parents = loaded.get(dg.AssetKey(["protobias", REPORT])).parent_keys
    shown = ["concepts", "filtered_pairs", "image_pairs", "prompt_triplets", "summary"]
    assert sorted(key.path[-1] for key in parents) == shown

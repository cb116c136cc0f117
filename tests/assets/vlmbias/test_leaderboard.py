"""VLMBias on leaderboards of others: the report's number, and the answers that it is made from."""

import json
import warnings

import dagster as dg
import pytest
import yaml

from assets.release import ReleaseOptions, ReleaseSources, verify_release, write_release
from assets.vlmbias.benchmark import BENCHMARK
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from tests.assets.asked import answers
from tests.runs import STAND_INS, TOPIC, defined, failure, materialize

REPLY = "I see {7}."


@pytest.fixture
def sources(server, judge, instance, tmp_path):
    """A topic with the answers of a judge and of stand-ins, and the report of them."""
    server.answer = lambda received: REPLY
    root, catalog = tmp_path / "root", Catalog((*STAND_INS, judge))
    for topic in (TOPIC, None):
        result = materialize(root, topic=topic, models=catalog.models, instance=instance)
        assert result.success, failure(result)
    resources = build_default_resources(str(root))
    graph = dg.Definitions(assets=defined(catalog, "vlmbias"), resources=resources)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        with dg.build_resources(resources, instance) as stores:
            yield ReleaseSources(
                home=stores.home,
                images=stores.images,
                work_cache=stores.work_cache,
                calls=stores.models.calls,
                catalog=catalog,
                instance=instance,
                graph=graph.resolve_asset_graph(),
            )


def test_the_number_is_the_mean_score_of_the_released_rows_in_main(sources, tmp_path):
    folder = tmp_path / "out"
    release = write_release(folder, BENCHMARK, sources, ReleaseOptions())
    rows = answers(tmp_path / "root").query(
        "image_set == 'benchmark' and question_id in ['Q1', 'Q2']"
    )
    right = rows["response"].eq(REPLY) & rows["ground_truth"].eq("7")
    assert 0 < right.mean() < 1
    (entry,) = yaml.safe_load((folder / "results/somebody/.eval_results/vlmbias.yaml").read_text())
    assert entry["value"] == round(100 * right.mean(), 2)
    (file,) = folder.rglob("*_samples.jsonl")
    samples = [json.loads(line) for line in file.read_text().splitlines()]
    assert [sample["evaluation"]["is_correct"] for sample in samples] == [*right]
    (main,) = (split for split in release.tables[0].splits if split.name == "main")
    table = release.tables[0].declaration
    with_rows = table.read_rows(sources.to_inputs(release.partitions), main.name)
    assert [sample["sample_id"] for sample in samples] == [row.row_id for row in with_rows]
    assert {sentence.partition(" in ")[0] for sentence in release.results.omissions} == {
        f"No result of {name}" for name in ("pixels", "prior", "random")
    }
    verify_release(folder, BENCHMARK, sources, ReleaseOptions())

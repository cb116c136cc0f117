"""Benchmarks whose items are collections, and what comes along of them."""

from pathlib import Path

import pytest

from assets.kit.benchmarks import load_benchmarks
from resources.models.catalog import Catalog
from tests.runs import STAND_INS

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "sample", "entry"),
    [
        (
            *("judge_sets", "photograph_pairs"),
            "columns: {image: i, question: q, responses: [a, b], preferred: p}",
        ),
        ("cdh_bench", "photograph_contrasts", "layout: cdh_bench"),
        ("mm_judge_bias", "photograph_biases", "layout: mm_judge_bias"),
    ],
)
def test_what_comes_along_is_a_set_only_where_there_is_no_other(
    monkeypatch, tmp_path, name, sample, entry
):
    catalog = Catalog(STAND_INS)
    benchmark = load_benchmarks()[name]

    def list_partitions():
        (results, *_) = [step.partitions_def for step in benchmark.build_definitions(catalog)]
        return results.get_partition_keys()

    monkeypatch.delenv("COUNTERFACTORY_COLLECTIONS", raising=False)
    assert list_partitions() == [sample]
    assert {run.partition for run in benchmark.stand_in_runs(catalog, "")} == {sample, None}
    listed = (PROJECT / "collections.yaml").read_text()
    listed = listed.replace("path: photographs", f"path: {PROJECT}/photographs")
    (tmp_path / "collections.yaml").write_text(f"{listed}\n- {{name: own, path: own.csv, {entry}}}")
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    assert list_partitions() == ["own"]
    assert list(benchmark.stand_in_runs(catalog, "")) == []

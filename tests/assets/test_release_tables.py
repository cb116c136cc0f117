"""What every declared table of a release promises: its columns, their sources, its splits."""

from itertools import islice
from typing import get_args

import dagster as dg
import pytest

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.kit.benchmarks import load_benchmarks
from assets.kit.columns import TEXT
from assets.kit.release_rows import find_split
from assets.kit.release_tables import Proof
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.release.statements import PROOFS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from resources.storage.streamed_tables import StoredTable
from tests.assets.forged_tables import inputs, store
from tests.runs import BENCHMARKS, STAND_INS, of_modules

TABLES = {
    f"{name}-{table.config}": (name, table)
    for name, benchmark in load_benchmarks().items()
    if name in BENCHMARKS
    for table in benchmark.release_tables
}
MADE_BY_THE_RELEASE = {"with_title"}
"""Columns of no table: they say what the release itself did."""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    catalog = Catalog(STAND_INS)
    definitions = [b.build_definitions(catalog) for b in load_benchmarks().values()]
    return dg.Definitions(
        assets=[*of_modules(), *(asset for assets in definitions for asset in assets)],
        resources=build_default_resources(str(tmp_path_factory.mktemp("root"))),
    ).resolve_asset_graph()


def test_every_benchmark_of_this_project_has_tables():
    """The items of these three are other people's: they release none."""
    downloaded = {"cdh_bench", "judge_sets", "mm_judge_bias"}
    assert {name for name, _ in TABLES.values()} == BENCHMARKS - downloaded


@pytest.mark.parametrize("name", TABLES)
class TestDeclarations:
    def test_columns_are_described_and_unique_in_meaning(self, name):
        _, table = TABLES[name]
        descriptions = [description for _, description in table.columns.columns.values()]
        assert all(len(text) > 1 for text in descriptions)
        assert table.description.endswith(".")

    def test_named_columns_are_there(self, name):
        _, table = TABLES[name]
        named = {table.id_column, *table.image_columns, *table.tsv_columns.values()}
        named |= {table.prompt_column, table.truth_column} - {""}
        assert named <= table.columns.columns.keys()
        assert {table.columns.columns[column][0] for column in table.image_columns} <= {TEXT}

    def test_each_column_has_the_asset_that_made_it(self, name, graph):
        benchmark, table = TABLES[name]
        assert table.columns.columns.keys() - table.sources.keys() <= MADE_BY_THE_RELEASE
        assert table.sources.keys() <= table.columns.columns.keys()
        for key in table.sources.values():
            assert key.path[0] == benchmark
            assert graph.has(key)

    def test_a_column_of_an_asset_keeps_its_type(self, name, graph):
        """A column that has the name of one of its asset is that column."""
        _, table = TABLES[name]
        kept = 0
        for column, key in table.sources.items():
            schema = graph.get(key).metadata["dagster/column_schema"]
            stored = {c.name: c.type for c in schema.columns}
            if column in stored and column not in table.image_columns:
                kept += 1
                assert str(table.columns.columns[column][0]) == stored[column]
        assert kept


def test_a_split_is_by_name_alone():
    names = [f"scene {number}" for number in range(2000)]
    share = sum(find_split(name) == "validation" for name in names) / len(names)
    assert 0.08 < share < 0.12
    assert find_split("flags/samoa") == "validation"


def test_every_proof_has_words():
    assert PROOFS.keys() == set(get_args(Proof))


@pytest.mark.parametrize(
    ("name", "columns", "partition", "cells"),
    [
        ("frame-biased_images", BIASED_IMAGE_COLUMNS, "people|artist", {"outcome": "biased"}),
        ("protobias-pairs", FILTERED_COLUMNS, "animals|artist", {"pair_kept": True}),
        ("vhexpansion-cases", NEGATED_CASE_COLUMNS, "photographs", {"outcome": "negated"}),
    ],
)
def test_rows_are_read_some_at_a_time(name, columns, partition, cells, tmp_path, monkeypatch):
    """A row is given before those a thousand further on are read."""
    _, table = TABLES[name]
    (key,) = {table.sources["id"]}
    row = {"item_id": "item", "concept_id": "concept", "side": "correct", "dataset": partition}
    row |= {
        "case_id": "case",
        "image_id": "image",
        "question": "Is it?",
        "answer": "yes",
        "bias": "gamma",
    }
    row |= {"negated_question": "Is it not?", "negated_answer": "no", "parameters": "[]"}
    known = {column: value for column, value in (row | cells).items() if column in columns.columns}
    store(tmp_path, key, partition, columns, [known] * 5_000)
    portions, read_portions = [], StoredTable.portions

    def count_portions(self, *args):
        for portion in read_portions(self, *args):
            portions.append(len(portion))
            yield portion

    monkeypatch.setattr(StoredTable, "portions", count_portions)
    stored = inputs(tmp_path, partition)
    (rows,) = (
        rows for split in table.splits if (rows := [*islice(table.read_rows(stored, split), 1)])
    )
    assert rows
    assert 1_000 in portions
    # The split without rows was read to its end, the other up to its first row.
    assert sum(portions) == 5_000 + 1_000

"""What an answer depends on, in its row, and what is said of a change."""

import json
import logging

import pytest
from dagster import AssetKey

from assets.kit.columns import Columns
from assets.kit.conditions import (
    CONDITION_COLUMNS,
    condition_cells,
    conditions_metadata,
    describe_differences,
    format_fact,
)
from resources.models.outcomes import AnsweredOutcome, FailedOutcome, RefusedOutcome
from resources.storage.data_root import DataRoot

KEY = AssetKey(["zoo", "answers_eye"])
LOG = logging.getLogger("conditions")
OLD, NEW = ('{"dtype": "bfloat16", "engine": "vLLM 0.11.0"}', '{"engine": "vLLM 0.12.0"}')


def cells(text="{5}", **provenance):
    return tuple(condition_cells(AnsweredOutcome(text, provenance=provenance or None)).values())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (cells(), (None, "none", 0)),
        (cells(engine="vLLM 0.11.0"), ('{"engine": "vLLM 0.11.0"}', "none", 0)),
        (cells("<think>four?</think>{5}"), (None, "by tags", 20)),
        (cells("<think>cut off"), (None, "by tags", 14)),
        (cells(thoughts_cut="by provider", thought_characters=7), (None, "by provider", 7)),
        (cells(thoughts_cut="by provider"), (None, "by provider", None)),
        (cells(thoughts_cut="by provider", thought_characters=True), (None, "by provider", None)),
        (cells(thoughts_cut=5, thought_characters="all"), (None, "none", 0)),
        (
            cells(None, formula="clip_score", batch=8, seed=1),
            ('{"formula": "clip_score"}', None, None),
        ),
        (tuple(condition_cells(None).values()), (None, None, None)),
        (tuple(condition_cells(FailedOutcome("deadline", "", 1)).values()), (None, None, None)),
        (tuple(condition_cells(RefusedOutcome("model", "No.")).values()), (None, None, None)),
    ],
)
def test_a_row_says_what_its_answer_depends_on_and_what_was_cut(row, expected):
    assert row == expected


def stored(root, *conditions):
    """A data root with a table of answers under these conditions."""
    folder = root / "zoo"
    folder.mkdir(exist_ok=True)
    rows = [{"conditions": text} for text in conditions]
    Columns(**CONDITION_COLUMNS).build_table(rows).to_pandas().to_parquet(
        folder / "answers_eye.parquet"
    )
    return DataRoot(root=str(root))


def told(home, *conditions):
    rows = [{"conditions": text} for text in conditions]
    return conditions_metadata(KEY, "", rows, home, LOG)


def test_a_change_since_the_last_table_is_told(tmp_path, caplog):
    home = stored(tmp_path, OLD, OLD)
    assert told(home, OLD, OLD) == {"conditions": [OLD]}
    assert not caplog.records
    change = "dtype (bfloat16, unknown), engine (vLLM 0.11.0, vLLM 0.12.0)"
    assert told(home, NEW) == {"conditions": [NEW], "conditions_changed": change}
    assert f"zoo/answers_eye: its answers differ in {change}" in caplog.text


def test_so_is_a_difference_within_a_table(tmp_path):
    home = DataRoot(root=str(tmp_path))
    assert told(home, NEW, None) == {"conditions": [NEW]}
    assert told(home, NEW, OLD)["conditions_changed"].startswith("dtype (bfloat16, unknown)")
    assert told(home, None) == {}


def test_a_table_of_an_older_version_says_nothing(tmp_path):
    home = stored(tmp_path)
    Columns(**{"response": CONDITION_COLUMNS["conditions"]}).build_table([]).to_pandas().to_parquet(
        tmp_path / "zoo/answers_eye.parquet"
    )
    assert told(home, NEW) == {"conditions": [NEW]}


def test_facts_are_told_in_words():
    limits = {"size": {"shortest_edge": 336}, "max_pixels": 1003520, "image_grid": [[1, 2], [2]]}
    assert format_fact(limits) == "size shortest_edge 336, max_pixels 1003520, image_grid 1; 2; 2"
    assert describe_differences([json.dumps({"a": 1}), json.dumps({"a": 1})]) == ""

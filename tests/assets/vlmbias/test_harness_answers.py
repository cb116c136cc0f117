"""A judge's stored answers, as the scores of other harnesses are computed from them."""

import pandas as pd
import pytest

from assets.vlmbias.harness_answers import load_judge_answers
from metrics.vlmbias.harness_table import compare_harnesses
from resources.storage.data_root import DataRoot
from tests.metrics.vlmbias.test_harness_table import build_answers


@pytest.fixture
def home(tmp_path):
    """Answers of a log to some of flags, to none of game boards, and of animals to originals."""
    replies = [("flags", "14", "13", "{14}", "14", "answered")]
    lacking = [("flags", "14", "13", None, None, "failed")]
    boards = [("game_boards", "9", "8", None, None, "failed")]
    animals = [("animals", "5", "4", "{5}", "5", "answered")]
    tables = {
        "flags": build_answers(replies + lacking),
        "game_boards": pd.concat([build_answers(boards), build_answers(boards, question="N1")]),
        "animals": build_answers(animals, image_set="original"),
    }
    home = DataRoot(root=str(tmp_path))
    for topic, table in tables.items():
        path = tmp_path / "vlmbias" / "answers_logged" / f"{topic}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.assign(prompting="baseline").to_parquet(path)
    return home


def test_topics_without_an_answer_are_no_wrong_ones(home):
    answers = load_judge_answers(home, "logged")
    assert [*answers["domain"]] == ["flags", "flags"]
    numbers = compare_harnesses(answers).numbers.set_index("harness")
    assert numbers.loc["lmms-eval", ["answers", "accuracy"]].to_list() == [2, 0.5]


def test_a_judge_without_any_answer_that_counts_is_named(home, tmp_path):
    (tmp_path / "vlmbias" / "answers_logged" / "flags.parquet").unlink()
    with pytest.raises(ValueError, match="no answer to Q1 or Q2"):
        compare_harnesses(load_judge_answers(home, "logged"))

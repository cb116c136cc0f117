"""Blind answers: what is sent, what is paid for, and what comes of a judge that refuses."""

import re
from hashlib import sha256

import pandas as pd
import pytest

from assets.vlmbias.blind_answers import BLIND_ANSWERS
from assets.vlmbias.pages.blind_answers import BlindComparison
from tests.assets.asked import answers, ask, judge_at, questions
from tests.assets.vlmbias.site_data import Report, build
from tests.providers import faults
from tests.runs import STAND_INS, TOPIC, checks, failure, materialize, metadata, table

BLIND = "blind_answers_somebody"


BLIND_STAND_INS = [judge.model_copy(update={"blind": "words"}) for judge in STAND_INS]


@pytest.fixture
def judge(server):
    """A judge that is asked blind as well."""
    return judge_at(server, blind="words")


def ask_blind(root, judge, **config):
    result = materialize(
        root, BLIND, topic=TOPIC, models=[*STAND_INS, judge], config={BLIND: config}
    )
    assert result.success, failure(result)
    return result


def read_answers(root):
    return pd.read_parquet(table(root, BLIND))


def list_changed_scenes(root):
    asked = questions(root)
    return asked[asked["variant"].eq("counterfactual") & asked["question_id"].eq("Q1")]


def test_a_scene_is_asked_once_in_words_that_name_its_subject(root, judge, server):
    result = ask_blind(root, judge)
    rows, changed = read_answers(root), list_changed_scenes(root)
    assert sorted(rows["base_id"]) == sorted(changed["base_id"].unique())
    assert [*rows.columns] == [*BLIND_ANSWERS.columns]
    assert {received.texts[0] for received in server.received} == set(rows["prompt"])
    assert server.count == rows["prompt"].nunique() <= len(rows)
    assert not any(received.images for received in server.received)
    row = rows.set_index("base_id").loc["game_boards/chess-remove-row-first"]
    assert row["prompt"] == (
        'The image "Chessboard" is hidden. Give the answer you expect. How many rows are there on '
        "this board? Answer with a number in curly brackets, e.g., {9}."
    )
    assert (row["response"], row["answer"], row["outcome"]) == ("I see {8}.", "8", "answered")
    assert checks(result) == {
        "every_row_ended": True,
        "unparsed_rate": True,
        "nothing_failed": True,
    }
    assert metadata(result, BLIND)["requests_sent"] == server.count
    ask_blind(root, judge)
    assert server.count == rows["prompt"].nunique()


def test_a_refusal_is_a_row_and_the_check_names_the_grey_picture(root, judge, server):
    server.answer = lambda received: "I'm sorry, but I can't assist with that."
    result = ask_blind(root, judge)
    rows = read_answers(root)
    assert set(rows["outcome"]) == {"refused"}
    assert rows["answer"].isna().all()
    assert checks(result)["unparsed_rate"] is False
    grey = judge_at(server, blind="grey")
    server.answer = lambda received: "{8}" if received.images else "I cannot see it."
    ask_blind(root, grey)
    rows = read_answers(root)
    assert set(rows["answer"]) == {"8"}
    assert rows["shown_sha256"].notna().all()


def test_a_filter_and_a_limit(root, judge, server):
    server.when(lambda received: "rows" in received.texts[0], faults.FILTERED)
    result = ask_blind(root, judge, limit=3)
    rows = read_answers(root)
    assert len(rows) == 3
    assert metadata(result, BLIND)["partial"] == "3 of 5 scenes"
    assert set(rows.loc[rows["prompt"].str.contains("rows"), "refusal"]) == {"content filter"}


@pytest.mark.parametrize(
    ("name", "outcome"), [("prior", "answered"), ("random", "answered"), ("pixels", "refused")]
)
def test_stand_in_judges_answer_blind(root, name, outcome):
    blind = f"blind_answers_{name}"
    result = materialize(root, blind, topic=TOPIC, models=BLIND_STAND_INS)
    assert result.success, failure(result)
    rows = pd.read_parquet(table(root, blind))
    assert set(rows["outcome"]) == {outcome}
    if name == "prior":
        asked = list_changed_scenes(root).drop_duplicates("base_id").set_index("base_id")
        assert (rows["answer"].to_numpy() == asked.loc[rows["base_id"], "expected_bias"]).all()


class TestShares:
    """Of a judge of game boards that says 8 to every blind question, over real HTTP."""

    def compare(self, root, server, answer):
        server.answer = answer
        judge = judge_at(server, blind="words")
        assert ask(root, judge).success
        ask_blind(root, judge)
        comparison = BlindComparison.build(answers(root), read_answers(root), [], [])
        (line,) = comparison.lines
        return line

    def test_a_judge_that_answers_from_memory_keeps_every_blind_answer(self, root, server):
        line = self.compare(root, server, lambda received: "{8}")
        assert line.row["blind_share"] == 1
        # Of chess 8 is expected, of Go and sudoku another number.
        changed = list_changed_scenes(root)
        wrong = changed[changed["ground_truth"].ne("8")]
        assert line.row["compared_scenes"] == wrong["base_id"].nunique()
        assert line.row["expected_share"] == wrong["expected_bias"].eq("8").mean() < 1
        assert line.row["difference"] == 1 - line.row["expected_share"]
        result = materialize(root, models=[*STAND_INS, judge_at(server, blind="words")])
        assert result.success, failure(result)
        page = read_page(root)
        assert "somebody 5 of at least 20 scenes to compare" in page
        assert page.count("not asked") >= 6 * len(STAND_INS)

    def test_a_judge_that_looks_gets_what_was_planted(self, root, server):
        changed = list_changed_scenes(root)
        truths = dict(zip(changed["sha256"], changed["ground_truth"], strict=True))
        planted = changed["sha256"].iloc[0]
        truths[planted] = "8"

        def look(received):
            digests = [sha256(image).hexdigest() for image in received.images]
            return f"{{{truths.get(digests[0], '8') if digests else '8'}}}"

        line = self.compare(root, server, look)
        assert line.row["blind_share"] == pytest.approx(1 / line.row["compared"])
        assert line.row["blind_answers"] == line.row["questions"] == len(changed)


def read_page(root):
    page = (root / "report" / "vlmbias" / "index.html").read_text("utf-8")
    _, _, section = page.partition('id="blind"')
    return " ".join(re.sub(r"<[^>]+>", " ", section.partition("</section>")[0]).split())


def test_a_page_shows_the_pair_first_and_what_was_never_asked(tmp_path):
    tables = Report(1, ("flags",), models=("prior", "some/vlm")).tables()
    changed = tables["answers"].query("question_id == 'Q1' and variant == 'counterfactual'")
    blind = changed[changed["model"].eq("prior")].drop_duplicates("base_id")
    page = build(tmp_path / "report", **tables, blind_answers=blind).read_text("utf-8")
    section = page.partition('id="blind"')[2].partition("</section>")[0]
    assert section.index('class="pair"') < section.index("<table")
    assert "<b>prior</b> says" in section
    assert section.count("not asked") == 6


def test_without_blind_answers_there_is_no_section(site):
    assert 'id="blind"' not in (site / "index.html").read_text("utf-8")

"""The section on two readings of the replies."""

from typing import Any

import pytest

from assets.vlmbias.pages.readings import Readings
from tests.assets.vlmbias.site_data import STAND_INS, Report, build

TALKER, WRITER = "some/talker", "some/writer"


def reply_in_words(model: str, prompting: str, question: dict[str, Any]) -> dict[str, Any]:
    """A model that leaves the brackets away, and one that writes them."""
    right = question["ground_truth"]
    if model == WRITER:
        return {"answer": right}
    return {"outcome": "unparsed", "response": f"I see {right} of them, not 99."}


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    models = (*STAND_INS, TALKER, WRITER)
    return Report(1, ("flags",), models=models, answering=reply_in_words).tables()


def test_the_page_names_a_model_whose_readings_differ_by_much(tables, tmp_path):
    page = build(tmp_path / "report", **tables).read_text("utf-8")
    assert "Of 12 replies of some/talker, 0 are read in brackets and 12 in words." in page
    assert "replies of some/writer" not in page
    assert "version 1." in page


def test_a_stand_in_has_no_line(tables):
    readings = Readings.build(tables["answers"], STAND_INS)
    models = [judge.model for judge in readings.select_judges("baseline")]
    assert models == [TALKER, WRITER]


def test_replies_read_by_other_rules_are_named(tables):
    answers = tables["answers"].assign(reading_version="0")
    assert Readings.build(answers, STAND_INS).older_versions == ["0"]

"""The paper's numbers, held to what it says of them in its text and to one another."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

from assets.vlmbias.pages import paper

ROWS = list(
    csv.DictReader(Path(paper.__file__).with_name("paper.csv").read_text("utf-8").splitlines())
)
TEXT = {
    ("2", "Task mean"): 17.05,
    ("2", "Animals"): 2.12,
    ("2", "Patterned grids"): 22.44,
    ("2", "Optical illusions"): 50.87,
    ("3", "Shoes"): 17.57,
    ("3", "Cars"): 0.44,
    ("3", "Stars"): 11.79,
    ("3", "Stripes"): 4.52,
    ("3", "Chess"): 29.86,
    ("3", "Xiangqi"): 22.64,
    ("3", "Original"): 78.02,
    ("3", "Modified"): 23.74,
    ("4", "Counterfactual"): 25.11,
    ("9", "Mean"): 2.26,
}
"""Means that the running text of the paper gives (§§ 4.2 to 4.8, L.1 to L.4)."""
DROPS = {"o4-mini": 6.56, "o3": 6.41, "Claude Sonnet 3.7": 2.81, "GPT-4.1": 2.67}
"""What an in-image text takes from a model (§ 4.7): points."""


def values(table, column, group=""):
    return {
        row["model"]: float(row["value"])
        for row in ROWS
        if (row["table"], row["column"]) == (table, column) and group in ("", row["group"])
    }


@pytest.mark.parametrize(("table", "column"), TEXT)
def test_means_are_those_of_the_text_and_of_the_models(table, column):
    models = values(table, column)
    printed = models.pop("Mean")
    assert printed == TEXT[table, column]
    assert mean(models.values()) == pytest.approx(printed, abs=0.011)


def test_the_models_stand_in_the_order_that_the_text_gives():
    asked, labelled = values("5", "Baseline"), values("5", "In-image text")
    assert {name: round(asked[name] - labelled[name], 2) for name in DROPS} == DROPS
    thinking = {"Gemini 2.5 Pro", "o3", "o4-mini"}
    chess = values("2", "Chess pieces")
    assert {name for name in chess if chess[name] > 26.5} == thinking
    illusions = values("3", "Modified", "Optical illusions")
    assert illusions["Claude Sonnet 3.7"] == 65.91


def test_tables_agree_with_one_another():
    topics = defaultdict(dict)
    for row in ROWS:
        if row["table"] == "2":
            topics[row["model"]][row["column"]] = float(row["value"])
    for model, by_topic in topics.items():
        task_mean, _ = by_topic.pop("Task mean"), by_topic.pop("Unmodified")
        assert mean(by_topic.values()) == pytest.approx(task_mean, abs=0.011)
        assert values("5", "Baseline")[model] == task_mean
        assert values("9", "Mean")[model] == by_topic["Game boards"]
    for group in {row["group"] for row in ROWS if row["table"] == "3"}:
        assert values("3", "Mean", group) == values("2", group)


def test_the_report_prints_every_number():
    for number in paper.TITLES:
        lines = paper.printed_table(number).lines
        printed = [cell.numbers[""] for line in lines for cell in line.cells]
        assert printed == [float(r["value"]) / 100 for r in ROWS if r["table"] == number]

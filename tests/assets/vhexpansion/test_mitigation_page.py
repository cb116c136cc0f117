"""The page of fine-tuning, of numbers that are made up here."""

import re

import pytest

import assets.vhexpansion.pages.mitigation as page
from assets.vhexpansion.mitigation import MITIGATION
from assets.vhexpansion.pages import REPORT, MitigationTable
from tests.assets.vhexpansion.test_numbers import served
from tests.assets.vhexpansion.test_pages import dataset, said


def row(arm, rate, value, measure="symmetric", name="MMVP", **columns):
    return {
        **dict.fromkeys(MITIGATION.columns),
        **{"arm": arm, "learning_rate": rate, "judge": "llava", "measure": measure},
        **{"dataset": name, "picture_set": "all" if measure == "symmetric" else None},
        **{"value": value, "low": value and value * 0.9, "high": value and value * 1.1},
        **{"cases": 40, "images": 40, "unanswered": 0, "reason": "", "is_stand_in": False},
    } | columns


def tuned(*rows):
    return MitigationTable(MITIGATION.build_table(list(rows)).to_pandas())


FOUND = tuned(
    row("before", None, 0.2),
    row("original", 1.8e-6, 0.21, change=0.01, change_low=-0.02, change_high=0.04),
    row("expanded", 1.8e-6, 0.3, change=0.1, change_low=0.05, change_high=0.15),
    row("expanded", 2e-4, 0.6, change=0.4, change_low=0.3, change_high=0.5, unanswered=1200),
    row("before", None, 1459.3, "perception", "mme"),
    row("expanded", 1.8e-6, 1434.4, "perception", "mme", unanswered=2),
    row("expanded", 2e-4, None, "perception", "mme", reason="it has not been asked yet"),
)


def pages_of(found):
    judge = served("llava", 0.2)
    further = {page.PAGE: "mitigation.html"} if found else {}
    datasets = [dataset([judge], said("llava", 0.8))]
    site = REPORT.build(datasets, facts={}, further_pages=further, tuned=found)
    return dict(site.pages)


def test_tables_7_and_8_have_a_column_a_rate_and_the_papers_beside():
    (line,) = page.symmetric(FOUND).lines
    assert [cell.text for cell in line.cells] == [
        "20.0\u00a0%",
        "21.0\u00a0%",
        "30.0\u00a0%",
        "60.0\u00a0%",
    ]
    assert [cell.change for cell in line.cells] == ["", "+1.0", "+10.0", "+40.0"]
    assert [cell.note for cell in line.cells] == ["", "", "", "1,200 unanswered"]
    (line,) = page.general(FOUND).lines
    assert line.label == "MME Perception"
    assert line.cells[0].text == "1459.3"
    assert line.cells[1].note == "not trained, or not judged"
    assert line.cells[2].note == "2 unanswered"
    assert line.cells[3].note == "it has not been asked yet"
    printed = {each.label: [cell.text for cell in each.cells] for each in page.paper("7").lines}
    assert printed["POPE"] == ["18.0\u00a0%", "18.9\u00a0%", "71.1\u00a0%"]
    printed = {each.label: [cell.text for cell in each.cells] for each in page.paper("8").lines}
    assert printed["MME Cognition"] == ["335.4", "327.5", "323.9"]


def test_figure_4_is_of_the_arm_that_has_several_rates():
    charts = page.sweeps(FOUND)
    assert [chart.title for chart in charts] == [
        "MMVP, symmetric: expanded cases, by learning rate",
        "MME Perception: expanded cases, by learning rate",
    ]
    assert [bar.label for bar in charts[0].bars] == ["before", "1.8e-6", "2e-4"]
    assert charts[1].ticks[-1] == "2000"
    assert charts[1].bars[0].marks[0].rate.value == pytest.approx(1459.3 / 2000)


def test_the_page_stands_in_the_site_once_something_was_trained():
    assert page.PAGE not in pages_of(None)
    pages = pages_of(FOUND)
    text = re.sub(r"<[^>]+>", " ", pages[page.PAGE])
    assert "60.0\u00a0%" in text
    assert "no scores of perception" not in text
    assert page.PAGE in pages["index.html"]


def test_without_mme_the_page_says_what_the_general_test_is():
    found = tuned(row("before", None, 0.2), row("before", None, 0.9, "general", "vqa"))
    text = " ".join(re.sub(r"<[^>]+>", " ", pages_of(found)[page.PAGE]).split())
    assert "there are no scores of perception and cognition" in text
    assert "90.0 %" in text

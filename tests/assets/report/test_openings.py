"""What papers printed, as cards show it: held to their running text, and never among one's own."""

import re
from dataclasses import replace

import pytest

from assets.frame.pages.report import REPORT as FRAME
from assets.philautia.pages.report import REPORT as PHILAUTIA
from assets.protobias.pages.report import REPORT as PROTOBIAS
from assets.report.openings import Entry, Opening, sort_openings
from assets.report.published import Published, PublishedNumber
from assets.report.standings import JudgeResults
from assets.vhexpansion.pages.report import REPORT as VHEXPANSION
from assets.vlmbias.pages import paper
from assets.vlmbias.pages.report import REPORT as VLMBIAS
from generators.topics import DRAWN, PHOTOGRAPHED
from tests.assets.report.fronts import ACCURACY, failure, standing

TEXTS = {
    # The mean that the abstract gives, and "o3 (18.50)" of § 4.2.
    "VLMBias": (VLMBIAS, {"o3": 0.1850}, "17.05"),
    # § 5.1: "71.62% and 70.20% overall", "GPT-5 ... 24.07% overall", "31.60% overall".
    "ProtoBias": (
        PROTOBIAS,
        {"CLIPScore": 0.7162, "PickScore": 0.7020, "GPT-5": 0.2407, "ProtoScore": 0.3160},
        "71.62",
    ),
    # "inflated scores observed in 64.71% ..., compared to 67.65% for GPT-4o".
    "FRAME": (FRAME, {"GPT-4o-mini": 0.6471, "GPT-4o": 0.6765}, "65 to 97"),
    # Of all models GPT-4o falls most on POPE: from 0.861 to 0.425.
    "VHExpansion": (VHEXPANSION, {"GPT-4o": 0.425, "LLaVA-OneVision": 0.843}, "42.5"),
    "Philautia-Eval": (PHILAUTIA, {"GPT-4o": 1.08, "InternVL2.5-8B": 3.03}, "12 of 12"),
}
"""Numbers that the papers give elsewhere than in the files that are read, and what is said."""
PUBLISHED = Published(
    sentence="Two models are right in half.",
    measure="Accuracy",
    better="higher is better",
    source="Table 1",
    differences="Other pictures.",
    numbers=[PublishedNumber("a", 0.25, "25 %"), PublishedNumber("b", 0.75, "75 %")],
)


@pytest.mark.parametrize("title", TEXTS)
def test_published_numbers_are_those_of_the_papers_text(title):
    report, numbers, words = TEXTS[title]
    published = report.published
    assert report.title == title
    shown = {number.model: number for number in published.numbers}
    for model, value in numbers.items():
        assert shown[model].value == pytest.approx(value, abs=5e-5)
    for number in published.numbers:
        printed = float(re.match(r"-?[\d.]+", number.text)[0])
        assert printed == pytest.approx(
            number.value * (100 if "%" in number.text else 1), abs=0.005
        )
    assert words in published.sentence


def test_where_ones_own_topics_are_fewer_the_papers_are_too():
    """Of the text's Table 2: Flags 10.42 and Chess pieces 26.74 of Gemini 2.5 Pro."""
    whole = paper.load_published()
    part = paper.restrict_published(whole, ["flags", "chess_pieces"])
    (gemini,) = [number for number in part.numbers if number.model == "Gemini 2.5 Pro"]
    assert (gemini.value, gemini.text) == (pytest.approx(0.1858), "18.58\u00a0%")
    assert "2 of its 7 topics" in part.source
    assert "13.88 to 20.25" in part.differences
    assert paper.restrict_published(whole, [*DRAWN, *PHOTOGRAPHED]) is whole


def opening(*standings, firmness="not run", failures=(), place=0):
    entry = Entry("Zoo", "does it look?", "Nobody was asked.", firmness, PUBLISHED, place)
    return Opening(entry=entry, results=JudgeResults([ACCURACY], standings, failures))


def labels(chart):
    return [bar.label for bar in chart.bars]


def test_without_a_model_the_paper_speaks_and_stand_ins_are_demo_data():
    shown = opening(standing("prior", 0.1, "stand-in"), failures=[failure("prior", 1, "stand-in")])
    assert (shown.sentence, shown.stamp) == (f"The paper: {PUBLISHED.sentence}", "As published")
    assert shown.own_chart.title.startswith("Demo data")
    assert labels(shown.own_chart) == ["prior"]
    assert labels(shown.published_chart) == ["a", "b"]
    assert [bar.marks[0].rate.value for bar in shown.published_chart.bars] == [0.25, 0.75]


@pytest.mark.parametrize(("text", "last_tick"), [("25 %", "100\u00a0%"), ("0.250", "1")])
def test_published_numbers_stand_on_an_axis_written_as_they_are(text, last_tick):
    published = replace(PUBLISHED, numbers=[PublishedNumber("a", 0.25, text)])
    entry = replace(opening().entry, published=published)
    shown = Opening(entry=entry, results=JudgeResults([ACCURACY], [], []))
    assert shown.published_chart.ticks[-1] == last_tick


def test_a_model_of_ones_own_speaks_and_no_stand_in_or_paper_is_among_its_numbers():
    shown = opening(
        standing("prior", 0.1, "stand-in"),
        standing("ear", 0.9, "trial"),
        standing("eye", 0.4),
        firmness="result",
        failures=[failure("prior", 1, "stand-in"), failure("eye", 2)],
    )
    assert (shown.sentence, shown.stamp) == ("Nobody was asked.", "")
    assert labels(shown.own_chart) == ["eye", "ear"]
    assert [bar.marks[0].kind for bar in shown.own_chart.bars] == ["accuracy", "bias"]
    assert shown.failure.model == "eye"
    assert labels(shown.published_chart) == ["a", "b"]


def test_what_numbers_rest_on_is_said_once_for_all_models_that_share_it():
    few = standing("eye", 0.2, of="pictures of flux")._replace(items=30, note="all of one kind")
    shown = opening(standing("ear", 0.4), standing("nose", 0.5), few)
    assert shown.basis == (
        "ear, nose: 240 pictures. eye: 30 pictures, pictures of flux, all of one kind."
    )
    assert opening(standing("ear", 0.4), standing("nose", 0.5)).basis == "240 pictures."
    assert opening().basis == ""


def test_a_model_without_a_number_has_its_reason_below_the_chart():
    lacking = standing("eye", None)._replace(items=0, note="too few to tell")
    shown = opening(standing("ear", 0.4), lacking, lacking._replace(model="ear"))
    assert labels(shown.own_chart) == ["ear"]
    assert shown.basis == "ear: 240 pictures. eye: too few to tell."


def test_an_axis_names_its_unit_and_what_its_ends_mean():
    points = ACCURACY._replace(
        better="near 0",
        written="points",
        unit="points of 100",
        left_label="less",
        right_label="more",
    )
    results = JudgeResults([points], [standing("ear", 0.4)])
    published = replace(
        PUBLISHED, is_share=False, unit="deviations", left_label="few", right_label="many"
    )
    entry = replace(opening().entry, firmness="result", published=published)
    shown = Opening(entry=entry, results=JudgeResults.read(results.file[1]))
    own, printed = shown.own_chart, shown.published_chart
    assert own.description.startswith("Accuracy in points of 100, 0 is best;")
    assert printed.description == "Accuracy in deviations, higher is better"
    assert [(chart.left_label, chart.right_label) for chart in (own, printed)] == [
        ("less", "more"),
        ("few", "many"),
    ]


def test_results_come_before_what_is_published():
    published, trial = opening(place=1), opening(firmness="trial", place=3)
    result = opening(firmness="result", place=2)
    assert sort_openings([published, trial, result]) == [result, trial, published]


def test_an_entry_is_read_as_it_was_written():
    entry = opening().entry
    assert Entry.parse(entry.file[1].encode()) == entry

"""The site of real-like models: several ways of asking, refusals, failures and gaps."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from assets.report.start_page import write_start_page
from assets.vlmbias.pages.judges import PROMPTINGS as WAYS
from assets.vlmbias.pages.judges import prompting_title
from assets.vlmbias.prompting import VARIANTS
from tests.assets.vlmbias.site_data import (
    ADDED,
    PROMPTINGS,
    REASON,
    STAND_INS,
    Report,
    build,
    lifelike,
    stubborn,
)
from tests.waiting import wait_for

MODELS = tuple(f"some/vlm-{number}" for number in range(1, 7))
OTHERS = ("debiased", "double-check", "in-image-title")
PAGES = ("index.html", "asked-debiased.html", "gallery.html", ADDED)


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    judges = (*sorted(STAND_INS), *MODELS)
    return Report(3, models=judges, promptings=PROMPTINGS, answering=lifelike).tables()


@pytest.fixture(scope="module")
def answers(tables: dict[str, Any]) -> pd.DataFrame:
    found: pd.DataFrame = tables["answers"]
    return found


@pytest.fixture(scope="module")
def folder(tables: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build(tmp_path_factory.mktemp("models") / "report", **tables).parent
    write_start_page(folder.parent)
    return folder


@pytest.fixture
def page(quiet: Page, folder: Path) -> Page:
    """The front page."""
    quiet.goto((folder / "index.html").as_uri())
    return quiet


def cells(page: Page, table: str, judge: str) -> list[str]:
    """The texts of a judge's row, folded away or not."""
    row = page.locator("table", has=page.locator("caption", has_text=table)).first
    found = row.locator("tbody tr", has=page.get_by_text(judge, exact=True)).first.locator("td")
    texts = found.evaluate_all("cells => cells.map(cell => cell.textContent)")
    return [" ".join(text.split()) for text in texts]


def go_to(page: Page, title: str) -> None:
    """Open the page of a way of asking, whole."""
    ways = page.get_by_role("navigation", name="Ways of asking")
    ways.get_by_text(title).click()
    expect(ways.locator("[aria-current]")).to_have_text(title)
    page.wait_for_load_state()


def share(rows: pd.DataFrame, column: str = "score") -> str:
    """The mean over topics, as the report writes it."""
    return f"{100 * rows.groupby('domain')[column].mean().mean():.1f} %"


def test_the_front_page_is_about_the_baseline_and_leads_to_the_other_ways(
    page: Page, answers: pd.DataFrame
) -> None:
    counted = answers[answers.question_id.isin(["Q1", "Q2"]) & (answers.image_set == "benchmark")]
    ways = page.get_by_role("navigation", name="Ways of asking")
    titles = ["Baseline", "Debiased", "Double-check", "In-image title"]
    assert ways.locator("a").all_inner_texts() == titles
    for title, prompting in (("Baseline", "baseline"), ("Debiased", "debiased")):
        go_to(page, title)
        rows = counted[(counted.model == "some/vlm-1") & (counted.prompting == prompting)]
        assert cells(page, "Accuracy on Q1 and Q2", "some/vlm-1")[0].startswith(share(rows))
        assert cells(page, "Accuracy on Q1 and Q2", "pixels")[0].startswith("100.0 %")


def test_ways_of_asking_stand_beside_each_other_with_their_change(
    page: Page, tables: dict[str, Any]
) -> None:
    found = tables["accuracy"].query(
        "model == 'some/vlm-1' and prompting == 'debiased' and topic == 'task mean'"
        " and image_set == 'benchmark' and questions == 'Q1 & Q2'"
    )
    change, low, high = (
        f"{100 * value:+.1f}".replace("-", "−")
        for value in found[["change", "change_low", "change_high"]].to_numpy()[0]
    )
    row = cells(page, "by way of asking", "some/vlm-1")
    assert row[1].endswith(f"{change} [{low}, {high}]")
    assert row[3] == "1 of 2 topics"
    assert cells(page, "by way of asking", "some/vlm-2")[2] == "not asked"
    assert cells(page, "by way of asking", "pixels")[1:] == ["not asked"] * 3


def test_each_two_models_differ_by_what_both_have_answered(
    page: Page, answers: pd.DataFrame
) -> None:
    counted = answers[answers.question_id.isin(["Q1", "Q2"]) & (answers.image_set == "benchmark")]
    plain = counted[counted.prompting == "baseline"]
    scores = plain.pivot_table(
        "score", ["domain", "image_id", "question_id", "question"], "model", dropna=False
    )
    table = page.get_by_role("table", name="Differences between judges")
    lines = table.locator("tbody tr")
    pairs = [name.split(" less ") for name in lines.locator("th").all_inner_texts()]
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) > 1
    for first, second in pairs:
        difference = (scores[first] - scores[second]).dropna()
        points = 100 * difference.groupby("domain").mean().mean()
        row = cells(page, "Differences between judges", f"{first} less {second}")
        value = f"{points:+.1f}".replace("-", "−")
        assert row[0].startswith("0.0" if value[1:] == "0.0" else value)
        assert row[0].count("p ") == 1
        assert row[2].startswith(f"{len(difference)}")
    (first, second), *_ = pairs
    sentence = page.locator("section", has=table).locator("strong").inner_text()
    assert first in sentence
    assert second in sentence
    assert "percentage points, p " in sentence


def test_a_model_that_was_never_asked_so_is_still_listed(page: Page) -> None:
    go_to(page, "Double-check")
    assert set(cells(page, "Accuracy on Q1 and Q2", "some/vlm-2")) == {"not asked"}
    row = page.get_by_role("table", name="Accuracy on Q1 and Q2", exact=True).get_by_role(
        "row", name="some/vlm-2"
    )
    expect(row.get_by_role("link")).to_have_count(0)


def test_what_nobody_was_asked_in_some_way_is_not_on_its_page(quiet: Page, folder: Path) -> None:
    page = quiet
    for path in ("index.html", *(f"asked-{name}.html" for name in OTHERS)):
        page.goto((folder / path).as_uri())
        rates = page.locator("table.rates")
        captions = rates.locator("caption").evaluate_all("l => l.map(each => each.textContent)")
        plain = path == "index.html"
        for about in ("Accuracy on Q3", "Accuracy on Q3 of originals", "sanity check"):
            assert any(about in caption for caption in captions) == plain
        alone = page.get_by_text("This way of asking is tried on Q1 and Q2 alone")
        expect(alone).to_have_count(0 if plain else 1)
        assert len(captions) > 8
        for table in rates.all():
            texts = table.locator("tbody").first.locator("td").all_text_contents()
            assert {text.strip() for text in texts} - {"not asked"}
    alone.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Q3: is this the familiar thing?")).to_be_visible()


def test_each_way_of_asking_is_called_as_a_run_calls_it() -> None:
    assert [*PROMPTINGS, "isolated"] == list(VARIANTS) == list(WAYS)
    assert [prompting_title(name).lower() for name in WAYS] == list(VARIANTS)


def test_a_model_asked_some_topics_alone_is_not_said_to_be_never_wrong(page: Page) -> None:
    go_to(page, "In-image title")
    row = cells(page, "Answers to Q1 and Q2", "some/vlm-1")
    assert row[:2] == ["1 of 2 topics", "not asked"]
    assert cells(page, "Answers to Q1 and Q2", "pixels")[0] == "none wrong"


def test_the_leaderboard_leaves_replies_without_an_answer_to_their_section(page: Page) -> None:
    board = page.get_by_role("region", name="Leaderboard")
    expect(board.get_by_role("columnheader", name="Refused")).to_have_count(0)
    board.get_by_text("How to read it").click()
    board.get_by_role("link", name="replies without an answer").click()
    expect(page.get_by_role("heading", name="Replies without an answer")).to_be_in_viewport()


def test_a_scene_shows_the_titled_picture_where_judges_saw_it(
    quiet: Page, folder: Path, answers: pd.DataFrame
) -> None:
    page = quiet
    page.goto((folder / ADDED).as_uri())
    question = page.locator(".question").first
    question.get_by_text("In-image title").click()
    image = question.locator("details", has_text="In-image title").locator("img")
    expect(image).to_have_count(1)
    expect(image).to_have_js_property("naturalHeight", 384 * 2 // 3 + 40)
    expect(image).to_have_attribute("loading", "lazy")
    expect(question.locator("img")).to_have_count(1)
    titled = answers[answers.prompting == "in-image title"].groupby("size").shown_sha256.unique()
    for size, hashes in titled.items():
        for sha256 in hashes:
            assert (folder / "images" / f"{sha256}.png").exists() == (size == 384)


def test_a_titled_picture_that_is_lost_is_an_error(
    tables: dict[str, Any], answers: pd.DataFrame, tmp_path: Path
) -> None:
    lost = answers[answers.prompting == "in-image title"].shown_sha256.iloc[0]

    def png_of(sha256: str) -> bytes:
        if sha256 == lost:
            raise FileNotFoundError(sha256)
        found: bytes = tables["png_of"](sha256)
        return found

    with pytest.raises(FileNotFoundError, match=str(lost)):
        build(tmp_path / "report", **{**tables, "png_of": png_of})


def test_a_judge_that_sees_nothing_is_shown_nothing(
    tables: dict[str, Any], answers: pd.DataFrame, tmp_path: Path
) -> None:
    blind = answers.assign(shown_sha256=answers.shown_sha256.where(answers.prompting == "baseline"))
    folder = build(tmp_path / "report", **{**tables, "answers": blind}).parent
    assert 'class="shown"' not in (folder / ADDED).read_text()


def test_leaderboard_fits_and_names_break_between_their_words(blank: Page, tmp_path: Path) -> None:
    def answering(model: str, prompting: str, question: dict[str, Any]) -> Any:
        asked = question["domain"] == "flags" or model in STAND_INS
        if model in STAND_INS:
            return stubborn(model, prompting, question)
        return {"answer": question["expected_bias"]} if asked else None

    topics = ("flags", "game_boards", "chess_pieces", "optical_illusions", "patterned_grids")
    models = (*sorted(STAND_INS), "gemini_flash", "gpt-4.1_mini")
    report = Report(1, topics, models=models, answering=answering)
    index = build(tmp_path / "report", **report.tables())
    page = blank
    page.set_viewport_size({"width": 1300, "height": 900})
    page.goto(index.as_uri())
    board = page.get_by_role("region", name="Accuracy on Q1 and Q2", exact=True)
    expect(board).to_contain_text("of 5 topics")
    assert board.evaluate("region => region.scrollWidth <= region.clientWidth")
    page.set_viewport_size({"width": 400, "height": 800})
    wait_for(lambda: page.evaluate("innerWidth === 400"))
    broken = page.locator("th[scope=row] a").evaluate_all(BROKEN_WORDS)
    assert broken == []


BROKEN_WORDS = """links => links.flatMap(link => [...link.childNodes].filter(node => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return node.nodeType === Node.TEXT_NODE
        && new Set([...range.getClientRects()].map(box => box.top)).size > 1;
}).map(node => node.textContent))"""


def test_no_judge_that_was_not_asked_is_listed_on_a_scene(quiet: Page, folder: Path) -> None:
    page = quiet
    for path in (ADDED, ADDED.replace("-add", "")):
        page.goto((folder / path).as_uri())
        rows = page.locator("table.answers tbody tr").evaluate_all(
            "l => l.map(row => [...row.querySelectorAll('td')].map(c => c.textContent.trim()))"
        )
        assert rows
        assert all(set(row) != {"not asked"} for row in rows)
        for question in page.locator(".question").all():
            counts = question.locator("h3 span").inner_text() in ("Q1", "Q2")
            expect(question.locator("details")).to_have_count(len(OTHERS) if counts else 0)


def test_unmodified_is_explained(page: Page) -> None:
    board = page.get_by_role("region", name="Leaderboard")
    expect(board.get_by_role("columnheader", name="Unmodified")).to_have_count(1)
    expect(board).to_contain_text("on the originals that stand outside the benchmark.")


def test_the_last_line_is_the_mean_over_models(page: Page, tables: dict[str, Any]) -> None:
    found = tables["accuracy"].query(
        "topic == 'task mean' and image_set == 'benchmark' and questions == 'Q1 & Q2'"
    )
    models = found[~found.model.isin(STAND_INS)]
    is_ranked = models.unanswered <= 0.1 * models.requests
    assert not is_ranked.all()
    found = models[is_ranked].groupby("prompting")
    accuracy, change = found.accuracy.mean() * 100, found.change.mean() * 100
    row = cells(page, "by way of asking", "Mean")
    count = found.model.nunique()
    baseline, debiased, double_check = (
        f"{count[name]} of 6 models" for name in ("baseline", "debiased", "double-check")
    )
    assert row[0] == f"{accuracy['baseline']:.1f} % {baseline}"
    assert row[1] == f"{accuracy['debiased']:.1f} % {change['debiased']:+.1f} {debiased}"
    assert row[2].endswith(f"{change['double-check']:+.1f} {double_check}")


def test_bars_show_what_the_answers_were(page: Page, answers: pd.DataFrame) -> None:
    rows = answers[
        (answers.model == "some/vlm-6")
        & (answers.prompting == "baseline")
        & (answers.image_set == "benchmark")
        & answers.question_id.isin(["Q1", "Q2"])
        & (answers.domain == "flags")
    ]
    right = (rows.score == 1).mean()
    biased = ((rows.score == 0) & (rows.answer == rows.expected_bias)).mean()
    table = page.get_by_role("table", name="Answers to Q1 and Q2")
    row = table.get_by_role("row", name="some/vlm-6")
    bar = row.locator(".bar").nth(1)
    expect(bar).to_have_attribute(
        "aria-label",
        f"Right {100 * right:.1f}\u00a0%, the expected wrong answer {100 * biased:.1f}\u00a0%, "
        f"otherwise wrong {100 * (1 - right - biased):.1f}\u00a0%",
    )
    widths = bar.locator("i").evaluate_all("l => l.map(i => i.getBoundingClientRect().width)")
    assert [width / sum(widths) for width in widths] == pytest.approx(
        [right, biased, 1 - right - biased], abs=0.01
    )
    shown = row.locator("td").nth(1).inner_text()
    assert shown.startswith(f"{100 * biased / (1 - right):.1f}")
    assert cells(page, "Answers to Q1 and Q2", "pixels") == ["none wrong"] * 3


def test_originals_and_counterfactuals_are_told_apart(page: Page, answers: pd.DataFrame) -> None:
    asked = answers[(answers.model == "some/vlm-1") & (answers.prompting == "baseline")]
    for table, ids in (("Q1 and Q2 of originals", ["Q1", "Q2"]), ("Q3 of originals", ["Q3"])):
        means = [
            100 * rows.groupby("domain").score.mean().mean()
            for variant in ("original", "counterfactual")
            for rows in [asked[asked.question_id.isin(ids) & (asked.variant == variant)]]
        ]
        original, counterfactual = cells(page, table, "some/vlm-1")[:2]
        assert original.startswith(f"{means[0]:.1f} %")
        assert counterfactual.startswith(f"{means[1]:.1f} %")
        assert counterfactual.endswith(f"{means[1] - means[0]:+.1f}".replace("-", "−"))


def test_sizes_are_told_apart(page: Page, answers: pd.DataFrame) -> None:
    rows = answers[
        (answers.model == "some/vlm-1")
        & (answers.prompting == "baseline")
        & answers.question_id.isin(["Q1", "Q2"])
        & (answers.variant == "counterfactual")
    ]
    shown = cells(page, "Accuracy on Q1 and Q2 by size", "some/vlm-1")[:3]
    for text, (_, of_size) in zip(shown, rows.groupby("size"), strict=True):
        assert text.startswith(share(of_size))


def test_the_sanity_check_stands_alone(page: Page, answers: pd.DataFrame) -> None:
    rows = answers[(answers.model == "some/vlm-1") & (answers.prompting == "baseline")]
    shown = cells(page, "sanity check", "some/vlm-1")
    for text, question in zip(shown, ("N1", "N2"), strict=True):
        assert text.startswith(share(rows[rows.question_id == question]))
    assert cells(page, "sanity check", "pixels") == ["not asked", "not asked"]


def test_replies_without_an_answer_are_counted_by_kind(page: Page, answers: pd.DataFrame) -> None:
    asked = answers[(answers.model == "some/vlm-4") & (answers.prompting == "baseline")]
    asked = asked.assign(refused=asked.outcome == "refused")
    asked = asked.assign(safety=asked.refusal == "image safety")
    assert asked.refused.sum() > asked.safety.sum() > 0
    row = cells(page, "Unparsed, refused and failed replies", "some/vlm-4")
    assert row[1].startswith(share(asked, "refused"))
    assert row[1].endswith(f"{asked.refused.sum()} of {len(asked)}")
    assert row[4].startswith(share(asked, "safety"))
    assert row[4].endswith(f"{asked.safety.sum()} of {len(asked)}")
    by_topic = cells(page, "Unparsed, refused and failed replies by topic", "some/vlm-4")
    flags = asked[asked.domain == "flags"]
    assert f"{flags.refused.sum()} of {len(flags)}" in by_topic[2]


def test_a_model_behind_whose_name_two_replied_is_flagged(
    page: Page, answers: pd.DataFrame
) -> None:
    expect(page.locator(".flagged")).to_have_text(
        "some/vlm-3 was answered by 2 models. Its figures mix them: see which."
    )
    replied = page.get_by_role("region", name="Models that replied")
    for name, number in answers[answers.model == "some/vlm-3"].served_model.value_counts().items():
        expect(replied.get_by_role("row", name=str(name))).to_contain_text(str(number))
    expect(replied).not_to_contain_text("pixels")


def test_a_scene_shows_why_there_is_no_answer(
    quiet: Page, folder: Path, answers: pd.DataFrame
) -> None:
    page = quiet
    refused = answers[(answers.outcome == "refused") & (answers.prompting == "baseline")].iloc[0]
    page.goto((folder / f"scenes/{refused.base_id}.html").as_uri())
    row = page.get_by_role("region", name="Answers to question 1", exact=True).get_by_role(
        "row", name="some/vlm-4"
    )
    expect(row).to_contain_text("refused: ")
    expect(row).to_contain_text(REASON)
    failed = answers[(answers.outcome == "failed") & (answers.prompting == "baseline")].iloc[0]
    page.goto((folder / f"scenes/{failed.base_id}.html").as_uri())
    expect(page.locator("main")).to_contain_text("failed 503: the model is overloaded")


def test_other_ways_of_asking_are_folded_away_on_a_scene(quiet: Page, folder: Path) -> None:
    page = quiet
    page.goto((folder / ADDED).as_uri())
    question = page.locator(".question").first
    checked = question.get_by_role("region", name="Answers to question 1: Double-check")
    expect(checked).to_be_hidden()
    question.get_by_text("Double-check").click()
    expect(checked).to_be_visible()
    row = checked.get_by_role("row", name="some/vlm-1")
    expect(row).to_contain_text("at first: There are {5}.")
    expect(checked.get_by_role("row", name="pixels")).to_have_count(0)


def test_the_gallery_filters_by_a_way_of_asking(
    page: Page, folder: Path, answers: pd.DataFrame
) -> None:
    go_to(page, "Debiased")
    board = page.get_by_role("table", name="Accuracy on Q1 and Q2", exact=True)
    board.get_by_role("link", name="some/vlm-1").click()
    wrong = page.get_by_label("Wrong answers by")
    expect(wrong).to_have_value("some/vlm-1 (debiased)")
    groups = wrong.locator("optgroup")
    assert [group.get_attribute("label") for group in groups.all()][1] == "Debiased"
    expect(groups.nth(1).locator("option")).to_have_count(len(MODELS))
    images = answers[answers.score == 0].groupby(["model", "prompting"]).image_id.nunique()
    assert images.nunique() > 5
    for (model, prompting), number in images.items():
        wrong.select_option(model if prompting == "baseline" else f"{model} ({prompting})")
        expect(page.get_by_role("status")).to_have_text(f"{number} of 54 pictures")


@pytest.mark.parametrize("path", PAGES)
def test_pages_fit_a_phone_and_are_well_marked_up(quiet: Page, folder: Path, path: str) -> None:
    page = quiet
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto((folder / path).as_uri())
    page.locator("details").evaluate_all("l => l.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    levels = page.locator("h1, h2, h3").evaluate_all("l => l.map(h => Number(h.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("th:not([scope]), a:not([href])").count() == 0
    ids = page.locator("[id]").evaluate_all("l => l.map(e => e.id)")
    assert len(ids) == len(set(ids))

"""The site of photographs: who says what is on them, and what is told apart for it."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from assets.report.start_page import write_start_page
from tests.assets.vlmbias.site_data import ADDED, STAND_INS, Made, Report, build, lifelike

MODEL = "some/vlm-1"
PAINTED = (
    ("animals", Made("artist", "accepted")),
    ("animals", Made("dauber", "accepted")),
    ("animals", Made("idler", "unreviewed")),
    ("logos", Made("sketch", "accepted", is_stand_in=True)),
)
ACCEPTED, UNREVIEWED, REHEARSAL = (
    f"scenes/{topic}/subject-0-add/{painter}.html"
    for topic, painter in (("animals", "artist"), ("animals", "idler"), ("logos", "sketch"))
)


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    report = Report(
        2, ("flags",), models=(*sorted(STAND_INS), MODEL), answering=lifelike, painted=PAINTED
    )
    return {**report.tables(), "complete": 30}


@pytest.fixture(scope="module")
def folder(tables: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build(tmp_path_factory.mktemp("photographs") / "report", **tables).parent
    write_start_page(folder.parent)
    return folder


@pytest.fixture
def page(quiet: Page, folder: Path) -> Page:
    """The front page."""
    quiet.goto((folder / "index.html").as_uri())
    return quiet


def counted(answers: pd.DataFrame, topic: str, *painters: str) -> pd.DataFrame:
    """The model's answers to Q1 and Q2 about those painters' counterfactuals of a topic."""
    asked = answers["question_id"].isin(["Q1", "Q2"]) & (answers["variant"] == "counterfactual")
    about = (answers["domain"] == topic) & answers["painter"].isin(painters)
    return answers[asked & about & (answers["model"] == MODEL)]


def share(rows: pd.DataFrame) -> str:
    return f"{100 * rows['score'].mean():.1f}"


def cells(page: Page, table: str, judge: str) -> list[str]:
    """The texts of a judge's row, folded away or not."""
    row = page.locator("table", has=page.locator("caption", has_text=table)).first
    found = row.locator("tbody tr", has=page.get_by_text(judge, exact=True)).first.locator("td")
    texts = found.evaluate_all("cells => cells.map(cell => cell.textContent)")
    return [" ".join(text.split()) for text in texts]


def test_each_image_of_the_benchmark_counts_once_by_its_best_proof(page: Page) -> None:
    """4 flags, 2 animals by three painters and 2 logos at three sizes, of 30 images in all."""
    page.get_by_text("How their labels are proved").click()
    proofs = page.locator(".proofs > div").all_inner_texts()
    assert [" ".join(each.split()) for each in proofs] == [
        "Read back from the pixels 12",
        "Accepted by a person 6",
        "Stand-in: no model made it, no result 6",
        "Not made yet, or dropped 6",
        "Images of the whole benchmark 30",
    ]


@pytest.mark.parametrize("path", ["index.html", "gallery.html"])
def test_front_page_and_gallery_say_loudly_what_proves_nothing(
    quiet: Page, folder: Path, path: str
) -> None:
    page = quiet
    page.goto((folder / path).as_uri())
    banners = page.locator(".banner")
    expect(banners).to_have_count(2)
    expect(banners.nth(0)).to_contain_text(
        "Part of this is a stand-in run: 6 of the benchmark’s 30 images"
    )
    expect(banners.nth(1)).to_contain_text("of 12 pictures beside the benchmark’s images nobody")
    banners.nth(1).locator("summary").click()
    banners.nth(1).get_by_role("link", name="See them in the gallery").click()
    expect(page.get_by_role("status")).to_have_text("12 of 66 pictures")


def test_a_report_of_drawn_pictures_has_no_banner(blank: Page, site: Path) -> None:
    page = blank
    for path in ("index.html", "gallery.html", ADDED):
        page.goto((site / path).as_uri())
        expect(page.locator(".banner, .stamp.is-stand-in, .stamp.is-unreviewed")).to_have_count(0)
        expect(page.get_by_text("Read back from the pixels").first).to_be_attached()
    expect(page.get_by_label("Painter")).to_have_count(0)


def test_every_picture_says_how_its_label_is_proved(quiet: Page, folder: Path) -> None:
    page = quiet
    page.goto((folder / "gallery.html").as_uri() + "#size=all")
    said = page.locator("#cards > li").evaluate_all(
        "l => l.map(i => [i.dataset.proof, i.querySelector('.stamp').textContent])"
    )
    assert dict(said) == {
        "pixels": "Read back from the pixels",
        "accepted": "Accepted by a person",
        "unreviewed": "Unreviewed: nobody has confirmed the count",
        "stand-in": "Stand-in: no model made it, no result",
    }
    for path in ("index.html", ACCEPTED, UNREVIEWED, REHEARSAL):
        page.goto((folder / path).as_uri())
        for figure in page.locator(".pair figure, .kin li").all():
            expect(figure.locator(".stamp")).to_have_count(1)
    expect(page.locator(".banner")).to_have_text(
        "Stand-in: no model made it, no result. See how its label is proved."
    )
    alt = page.locator(".view img").first.get_attribute("alt") or ""
    assert alt.endswith(", stand-in")


def test_the_gallery_filters_by_painter_and_proof(quiet: Page, folder: Path) -> None:
    page = quiet
    page.goto((folder / "gallery.html").as_uri() + "#size=all")
    painter, proof = page.get_by_label("Painter"), page.get_by_label("Proof of the label")
    count = page.get_by_role("status")
    for name, number in {"artist": 12, "sketch": 12, "": 18}.items():
        painter.select_option(name)
        expect(count).to_have_text(f"{number} of 66 pictures")
    painter.select_option("all")
    for name, number in {"accepted": 24, "unreviewed": 12, "stand-in": 12, "pixels": 18}.items():
        proof.select_option(name)
        expect(count).to_have_text(f"{number} of 66 pictures")


def test_a_photograph_says_how_it_was_made_and_has_no_readings(quiet: Page, folder: Path) -> None:
    page = quiet
    page.goto((folder / ACCEPTED).as_uri())
    made = page.get_by_role("region", name="How it was made")
    for text in ("artist", "artist-2026-01-01", "1536 × 1024 px", "some/editor", "Pillow 1"):
        expect(made).to_contain_text(text)
    assert made.locator(".prompts dd").all_inner_texts() == [
        "Paint it with all of its stripes.",
        "Add 1 more stripe.",
    ]
    expect(made).to_contain_text("Edit number, counted from 02")
    expect(made).not_to_contain_text("Seed")
    expect(page.get_by_role("region", name="Readings")).to_have_count(0)
    proof = page.get_by_role("region", name="How its label is proved")
    expect(proof).to_contain_text("Its label was accepted by a person.")
    page.locator(".pair a").first.click()
    expect(page.locator(".kind")).to_contain_text("animals/subject-0/artist")


def test_what_proves_nothing_is_in_no_figure_of_the_leaderboard(
    page: Page, tables: dict[str, Any]
) -> None:
    board = page.get_by_role("table", name="Accuracy on Q1 and Q2", exact=True)
    assert board.locator("thead a").all_inner_texts() == ["Flags", "Animals"]
    row = cells(page, "Accuracy on Q1 and Q2", MODEL)
    accepted = counted(tables["answers"], "animals", "artist", "dauber")
    assert row[2].startswith(share(accepted))
    drawn = counted(tables["answers"], "flags", "")
    mean = (accepted["score"].mean() + drawn["score"].mean()) / 2
    assert row[0].startswith(f"{100 * mean:.1f}")
    assert cells(page, "Accuracy on Q1 and Q2", "pixels")[0] == "1 of 2 topics"
    asked = page.get_by_role("table", name="Unparsed, refused and failed replies", exact=True)
    expect(asked.get_by_role("columnheader", name="Logos")).to_have_count(0)
    logos = page.locator(".topic", has=page.get_by_role("heading", name="Logos"))
    expect(logos).to_contain_text("12 pictures in the gallery, all of them stand-ins")
    expect(logos.locator("table, svg")).to_have_count(0)


def test_what_proves_nothing_is_told_apart_by_variant(page: Page, tables: dict[str, Any]) -> None:
    apart = page.get_by_role("region", name="Pictures that prove nothing yet")
    headings = apart.get_by_role("heading", level=3).all_inner_texts()
    assert headings == [
        "Unreviewed: nobody has confirmed the count",
        "Stand-in: no model made it, no result",
    ]
    for name, topic, painter in (("Unreviewed", "animals", "idler"), ("Stand", "logos", "sketch")):
        row = cells(page, name, MODEL)
        assert row[0].startswith(share(counted(tables["answers"], topic, painter)))
        assert len(row) == 3
        assert cells(page, name, "prior")[0].startswith("0.0")
        assert cells(page, name, "prior")[2].startswith("100.0")
    expect(apart.get_by_role("row", name="pixels")).to_have_count(0)
    expect(apart.locator("summary")).to_have_count(0)


def test_accepted_pictures_are_told_apart_by_painter(page: Page, tables: dict[str, Any]) -> None:
    row = cells(page, "Animals by painter", MODEL)
    for at, painter in enumerate(("artist", "dauber")):
        assert row[at].startswith(share(counted(tables["answers"], "animals", painter)))
    assert len(row) == 4
    expect(page.locator("summary", has_text="By painter")).to_have_count(1)


def test_the_pictures_of_a_single_painter_are_not_told_apart(tmp_path: Path) -> None:
    report = Report(1, ("flags",), painted=PAINTED[:1])
    assert "By painter" not in build(tmp_path / "report", **report.tables()).read_text()


@pytest.mark.parametrize("path", ["index.html", "gallery.html", UNREVIEWED])
def test_pages_are_well_marked_up_and_fit_a_phone(quiet: Page, folder: Path, path: str) -> None:
    page = quiet
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((folder / path).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    levels = page.locator("h1, h2, h3, h4").evaluate_all("l => l.map(h => Number(h.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("img:not([alt]), th:not([scope]), a:not([href])").count() == 0
    ids = page.locator("[id]").evaluate_all("l => l.map(e => e.id)")
    assert len(ids) == len(set(ids))
    links = page.locator("a[href^='#']").evaluate_all("l => l.map(a => a.hash.slice(1))")
    assert set(links) <= set(ids)


def test_a_rehearsal_alone_has_no_leaderboard(blank: Page, tmp_path: Path) -> None:
    report = Report(1, (), models=("prior", "random"), painted=PAINTED[3:])
    index = build(tmp_path / "report", **report.tables())
    page = blank
    page.goto(index.as_uri())
    expect(page.locator(".banner")).to_contain_text("All of this is a stand-in run:")
    board = page.get_by_role("region", name="Leaderboard")
    expect(board).to_contain_text("All answers so far are about pictures that prove nothing yet.")
    expect(board.locator("table")).to_have_count(0)
    published = page.get_by_role("region", name="As published")
    expect(published.get_by_role("table")).to_have_count(1)
    expect(page.get_by_role("table")).to_have_count(2)
    expect(page.get_by_role("heading", name="What the answers were")).to_have_count(0)

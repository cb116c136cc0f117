"""The start page of all reports: what it says of each, and where it leads."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from assets.report.publish import publish
from assets.report.start_page import write_start_page
from tests.assets.protobias.pairs_data import Pictures, painted
from tests.assets.protobias.pairs_data import written as written_pairs
from tests.assets.report.fronts import ODD, front
from tests.assets.report.test_asset import FOUND, site
from tests.assets.vlmbias.site_data import Report, build


def no_picture(sha256: str) -> bytes:
    raise AssertionError(sha256)


def test_each_report_is_found_by_what_lies_there(blank: Page, tmp_path: Path) -> None:
    """Two benchmarks as they are, and one that nothing else knows of."""
    root, pictures = tmp_path / "report", Pictures()
    build(root / "vlmbias", **Report(1, ("flags",)).tables())
    written_pairs(root / "protobias", painted("sketch", pictures), pictures=pictures)
    publish(root / "another one", site(firmness="trial"), no_picture)
    half_built = root / f".another.{'0' * 32}"
    half_built.mkdir()
    (half_built / "finding.json").write_text("{}")
    moved = write_start_page(root).page.parent.rename(tmp_path / "moved # 50%")
    page = blank
    page.goto((moved / "index.html").as_uri())
    found = page.locator(".cards article")
    expect(found.locator(".finding")).to_have_text(
        [
            FOUND,
            re.compile("some/vlm-1: no answer to 12 requests"),
            re.compile("^The paper: CLIPScore prefers the typical picture"),
        ]
    )
    stamps = found.locator(".stamps").all_inner_texts()
    assert stamps[:2] == ["A trial: not ranked", "No answer"]
    assert stamps[2].startswith("As published: The paper’s §5.1")
    numbers = found.nth(2).locator(".numbers")
    expect(numbers.get_by_role("img", name="As published")).to_be_visible()
    expect(numbers.get_by_role("img", name="Demo data")).to_be_hidden()
    numbers.get_by_text("Demo data: stand-ins").first.click()
    expect(numbers.get_by_role("img", name="Demo data")).to_be_visible()
    found.nth(0).get_by_role("link").click()
    expect(page).to_have_url((moved / "another one" / "index.html").as_uri())
    page.get_by_role("link", name="Reports").click()
    expect(page).to_have_url((moved / "index.html").as_uri())


def test_a_report_that_was_taken_elsewhere_leads_to_no_start_page(
    blank: Page, tmp_path: Path
) -> None:
    build(tmp_path / "report" / "vlmbias", **Report(1, ("flags",)).tables())
    write_start_page(tmp_path / "report")
    page = blank
    up = page.get_by_role("link", name="Reports")
    scene = "scenes/flags/subject-0.html"
    page.goto((tmp_path / "report" / "vlmbias" / scene).as_uri())
    up.click()
    expect(page).to_have_url((tmp_path / "report" / "index.html").as_uri())
    alone = (tmp_path / "report" / "vlmbias").rename(tmp_path / "alone")
    page.goto((alone / scene).as_uri())
    page.wait_for_load_state("networkidle")
    expect(up).to_have_count(0)


def test_rows_are_sorted_by_keyboard_and_trials_stay_below(blank: Page, tmp_path: Path) -> None:
    index = write_start_page(front(tmp_path / "report")).page
    page = blank
    page.goto(index.as_uri())
    table = page.get_by_role("region", name="Judges and metrics").get_by_role("table")
    names = table.locator("tbody").first.locator("th a")

    def order() -> list[str]:
        return names.all_inner_texts()

    button = table.get_by_role("button", name="Accuracy")
    button.focus()
    page.keyboard.press("Enter")
    assert order()[:2] == [ODD, "eye"]
    page.keyboard.press("Enter")
    assert order()[:2] == ["eye", ODD]
    assert "ear" in order()[2:], "a trial of 95 % is above nothing"
    expect(table.get_by_role("columnheader", name="Accuracy")).to_have_attribute(
        "aria-sort", "ascending"
    )
    cell = page.get_by_role("row", name="new").locator("details").first
    expect(cell.locator("code")).to_be_hidden()
    cell.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(cell.locator("code")).to_be_visible()
    told = cell.locator("> small")
    told.evaluate("told => { told.textContent = 'Left out. '.repeat(60) }")
    assert told.evaluate("told => told.scrollWidth <= told.clientWidth"), "it lies over no cell"
    page.get_by_role("link", name="eye", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("eye")
    pictures = page.locator(".failures img")
    assert pictures.first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 200


def test_the_pages_of_judges_fit_a_phone(blank: Page, tmp_path: Path) -> None:
    index = write_start_page(front(tmp_path / "report")).page
    page = blank
    page.set_viewport_size({"width": 400, "height": 800})
    for name in ("index.html", "judges/eye.html", "judges/new.html"):
        page.goto((index.parent / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 400, name


@pytest.mark.parametrize("width", [1280, 1600])
def test_cards_share_a_wide_page_and_a_key_leads_to_the_table(
    blank: Page, tmp_path: Path, width: int
) -> None:
    index = write_start_page(front(tmp_path / "report")).page
    page = blank
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(index.as_uri())
    first, second = page.locator(".cards article").all()
    places = [card.bounding_box() for card in (first, second)]
    widths = [place["width"] for place in places if place]
    assert widths[1] < widths[0] / 2
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="to the table")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_in_viewport()


def test_a_page_is_printed_on_white_with_all_columns_of_its_tables(
    blank: Page, tmp_path: Path
) -> None:
    index = write_start_page(front(tmp_path / "report")).page
    page = blank
    page.goto(index.as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert min(map(int, re.findall(r"\d+", ground))) > 240
    region = page.get_by_role("region", name="Judges and metrics")
    assert region.evaluate("region => getComputedStyle(region).overflowX") == "visible"
    expect(page.get_by_role("link", name="CSV").first).to_be_hidden()
    page.emulate_media(media="screen", color_scheme="light")

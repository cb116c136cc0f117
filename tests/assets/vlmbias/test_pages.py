"""The site in a real browser, opened from the file system."""

import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Page, expect

from tests.assets.vlmbias.site_data import ADDED, ODD, REFUSAL, Report, written
from tests.waiting import wait_for

ORIGINAL = "scenes/flags/subject-0.html"


class Tab:
    """A tab that remembers what it asked for and what it complained of."""

    def __init__(self, page: Page, site: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._site = site
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path: str) -> Page:
        at, _, fragment = path.partition("#")
        self.page.goto((self._site / at).as_uri() + (f"#{fragment}" if fragment else ""))
        return self.page


@pytest.fixture
def tab(blank: Page, site: Path) -> Iterator[Tab]:
    found = Tab(blank, site)
    yield found
    assert found.complaints == []
    assert all(url.startswith(("file://", "data:", "about:")) for url in found.requests)


def shown(page: Page) -> int:
    return page.locator("#cards > li:visible").count()


def test_cards_show_a_judges_answer_beside_the_truth(tab: Tab) -> None:
    page = tab.open("gallery.html#topic=flags&variant=counterfactual")
    card = page.locator("#cards > li:visible").first
    expect(card).to_contain_text("Stripes: 6, not 5")
    expect(card.locator(".said")).to_have_text("some/vlm-1 says ✗ refused")
    page.get_by_label("Answers shown").select_option("pixels")
    expect(card.locator(".said")).to_have_text("pixels says ✓ 6")
    page.get_by_label("Wrong answers by").select_option("prior")
    expect(card.locator(".said")).to_have_text("prior says ✗ 5")
    page.get_by_role("button", name="Reset").click()
    expect(card.locator(".said")).to_have_text("some/vlm-1 says ✗ refused")


def test_what_was_changed_is_outlined_by_the_page_and_can_be_bare(
    blank: Page, tmp_path: Path
) -> None:
    box = (0.25, 0.5, 0.1, 0.2)
    folder = written(tmp_path / "report", outlines={"flags/subject-0-remove": [box]})
    page = blank
    page.goto((folder / "gallery.html").as_uri())
    expect(page.locator("#cards .outline:visible")).to_have_count(1)
    card = page.locator("#cards > li:visible", has=page.locator(".outline"))
    expect(card).to_contain_text("One stripe fewer")
    expect(card.locator(".outline.is-gone")).to_have_count(1)
    # A picture of 3 to 2 in the middle of a square, which the line follows.
    image, line = card.locator("img").bounding_box(), card.locator("rect").bounding_box()
    assert image is not None
    assert line is not None
    side = image["width"]
    assert line["x"] - image["x"] == pytest.approx(0.25 * side, abs=3)
    assert line["y"] - image["y"] == pytest.approx(side / 6 + 0.5 * side * 2 / 3, abs=3)
    assert line["width"] == pytest.approx(0.1 * side, abs=4)
    page.get_by_label("Outline what was changed").uncheck()
    expect(page.locator("#cards .outline:visible")).to_have_count(0)
    page.goto((folder / "scenes/flags/subject-0-remove.html").as_uri())
    expect(page.locator(".pair .outline")).to_have_count(1)


def test_thumbnails_load_in_the_gallery(tab: Tab) -> None:
    page = tab.open("gallery.html")
    image = page.locator("#cards > li:visible img").first
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("image => image.naturalWidth") == 384
    assert sum(url.endswith(".png") for url in tab.requests) <= 12


def test_filters_show_what_fits_and_say_how_much(tab: Tab) -> None:
    page = tab.open("gallery.html")
    count = page.get_by_role("status")
    expect(count).to_have_text("12 of 36 pictures")
    assert shown(page) == 12
    page.get_by_label("Topic").select_option("flags")
    page.get_by_label("Variant").select_option("counterfactual")
    page.get_by_label("Size").select_option("all")
    expect(count).to_have_text("12 of 36 pictures")
    page.get_by_label("Size").select_option("768")
    expect(count).to_have_text("4 of 36 pictures")
    assert shown(page) == 4
    page.get_by_role("button", name="Reset").click()
    expect(count).to_have_text("12 of 36 pictures")


def test_wrong_answers_are_filtered_by_judge(tab: Tab) -> None:
    page = tab.open("gallery.html")
    wrong = page.get_by_label("Wrong answers by")
    wrong.select_option("pixels")
    expect(page.get_by_role("status")).to_have_text("0 of 36 pictures")
    wrong.select_option("prior")
    expect(page.get_by_role("status")).to_have_text("8 of 36 pictures")
    variants = page.locator("#cards > li:visible").evaluate_all(
        "l => l.map(i => i.dataset.variant)"
    )
    assert set(variants) == {"counterfactual"}


def test_filters_are_kept_in_the_address(tab: Tab) -> None:
    page = tab.open("gallery.html#topic=game_boards&size=all&wrong=some%2Fvlm-1&odd=1&variant=none")
    expect(page.get_by_role("status")).to_have_text("12 of 36 pictures")
    page.get_by_label("Wrong answers by").select_option("all")
    expect(page).to_have_url(re.compile("#topic=game_boards&size=all$"))
    page.reload()
    expect(page.get_by_role("status")).to_have_text("18 of 36 pictures")
    page.evaluate("location.hash = ''")
    expect(page.get_by_role("status")).to_have_text("12 of 36 pictures")


def test_the_keyboard_reaches_filters_and_cards(tab: Tab) -> None:
    page = tab.open("gallery.html")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    expect(page.get_by_text("Skip to content")).to_be_in_viewport()
    assert page.get_by_text("Skip to content").evaluate("link => link.offsetWidth") < 200
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Topic")).to_be_focused()
    outline = page.get_by_label("Topic").evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid"
    for _ in range(8):
        page.keyboard.press("Tab")
    first = page.locator("#cards a:visible").first
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Subject 0")


def test_the_focus_ring_of_a_card_is_seen_on_all_sides(tab: Tab) -> None:
    page = tab.open("gallery.html")
    card = page.locator("#cards a:visible").nth(1)
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box is not None
    around = {"x": box["x"] - 8, "y": box["y"] - 8}
    around |= {"width": box["width"] + 16, "height": box["height"] + 16}
    looks = []
    for focus in ("card.blur()", "card.focus({focusVisible: true})"):
        card.evaluate(f"card => {focus}")
        looks.append(Image.open(io.BytesIO(page.screenshot(clip=around))).convert("L"))
    ring = np.asarray(ImageChops.difference(*looks)) > 60
    for side in (ring[:8], ring[-8:], ring[:, :8].T, ring[:, -8:].T):
        assert side.sum() > 1.5 * side.shape[1]


def test_a_scene_shows_sizes_readings_and_every_answer(tab: Tab) -> None:
    page = tab.open(ADDED)
    widths = page.locator(".sizes img").evaluate_all(
        "images => Promise.all(images.map(i => i.decode().then(() => i.naturalWidth)))"
    )
    assert widths == [384, 768, 1152]
    assert page.locator(".pair img").count() == 2
    read = page.get_by_role("row", name="stripes asked in Q1 and Q2")
    expect(read).to_have_accessible_name("stripes asked in Q1 and Q2 6 5" + 3 * " 6 agrees")
    legible = page.get_by_text("the narrowest mark is")
    expect(legible).to_have_text(
        "At 384 px the narrowest mark is 7.2 px wide, the narrowest gap 3.0 px."
    )
    answers = page.get_by_role("region", name="Answers to question 1")
    expect(answers.get_by_role("row", name="pixels")).to_contain_text("6 right")
    expect(answers.get_by_role("row", name="prior")).to_contain_text("5 wrong, biased")
    expect(answers.get_by_role("row", name="random")).to_contain_text("7 wrong")
    expect(answers.get_by_role("row", name="some/vlm-1")).to_contain_text("refused")
    expect(answers.get_by_role("row", name="some/vlm-1")).to_contain_text(REFUSAL)
    expect(page.locator(".made")).to_contain_text("grey")


def test_scenes_lead_to_each_other(tab: Tab) -> None:
    page = tab.open(ORIGINAL)
    expect(page.locator(".kin a")).to_have_count(2)
    expect(page.locator("[rel=prev]")).to_have_count(0)
    page.locator("[rel=next]").first.click()
    expect(page.locator(".kind")).to_contain_text("flags/subject-0-add")
    page.locator(".pair a").first.click()
    expect(page.locator(".kind")).to_contain_text("flags/subject-0")


def test_a_scene_with_a_name_of_its_own_has_a_short_label(tab: Tab) -> None:
    page = tab.open("scenes/flags/subject-0-add.html")
    expect(page.locator("[rel=next] .to").first).to_have_text("Subject 0, one stripe fewer")


def test_the_front_page_ranks_and_charts(tab: Tab) -> None:
    page = tab.open("index.html")
    board = page.get_by_role("table", name="Accuracy on Q1 and Q2", exact=True)
    names = board.locator("tbody th[scope=row]").all_inner_texts()
    assert names == ["some/vlm-1", "pixels stand-in", "random stand-in", "prior stand-in"]
    expect(board.get_by_role("row", name="prior")).to_contain_text("0.0 % [0.0, 36.9]")
    expect(board.get_by_role("row", name="some/vlm-1")).to_contain_text(
        "no answer no answer no answer no answer"
    )
    expect(page.get_by_role("img", name="accuracy and bias rate of every judge")).to_have_count(3)
    text = page.locator(".topic svg desc").first.text_content() or ""
    assert "prior · stand-in: accuracy 0.0\u00a0% [0.0,\u00a060.2], bias rate 100.0\u00a0%" in text
    assert "some/vlm-1: no answer." in text
    expect(page.get_by_role("navigation", name="Ways of asking")).to_have_count(0)
    expect(page.get_by_role("heading", name="Q3: is this the familiar thing?")).to_be_visible()
    expect(page.get_by_role("heading", name="Sanity check")).to_have_count(0)


def test_a_shade_says_where_a_wide_table_goes_on(tab: Tab) -> None:
    tab.page.set_viewport_size({"width": 360, "height": 740})
    page = tab.open(ADDED)
    files = page.get_by_role("region", name="Files")

    def shaded() -> list[bool]:
        pixels = np.asarray(Image.open(io.BytesIO(files.screenshot())).convert("L"), int)
        return [bool(np.median(pixels[:, at]) < pixels.max() - 20) for at in (0, -1)]

    assert shaded() == [False, True]
    files.evaluate("region => region.scrollLeft = 50")
    assert shaded() == [True, True]
    files.evaluate("region => region.scrollLeft = region.scrollWidth")
    assert shaded() == [True, False]
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    wait_for(lambda: page.evaluate("innerWidth === 1280"))
    assert shaded() == [False, False]


@pytest.mark.parametrize("path", ["index.html", "gallery.html", ADDED, ORIGINAL])
def test_pages_fit_a_phone_and_are_well_marked_up(tab: Tab, path: str) -> None:
    tab.page.set_viewport_size({"width": 360, "height": 740})
    page = tab.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("h1").count() == 1
    levels = page.locator("h1, h2, h3").evaluate_all("l => l.map(h => Number(h.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("img:not([alt]), th:not([scope]), a:not([href])").count() == 0
    ids = page.locator("[id]").evaluate_all("l => l.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_odd_text_stays_text(tab: Tab) -> None:
    page = tab.open("scenes/flags/subject-1-add.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text(ODD)
    expect(page.locator("footer")).to_contain_text(ODD)


def test_disagreement_and_missing_measurements_are_flagged(blank: Page, tmp_path: Path) -> None:
    found = Report(subjects=1, topics=["flags"]).tables()["measurements"]
    found.loc[0, ["measured", "agrees"]] = [6.001, False]
    found.loc[1, ["measured", "problem", "agrees"]] = [None, "No stripes were found.", False]
    found.loc[8, "sha256"] = "of another image"
    folder = written(tmp_path / "report", measurements=found)
    page = blank
    page.goto((folder / "index.html").as_uri())
    expect(page.locator(".flagged")).to_contain_text("label: 1. Without a measurement: 2.")
    page.locator(".flagged summary").click()
    page.locator(".flagged a").click()
    expect(page.get_by_role("status")).to_have_text("3 of 9 pictures")
    page.goto((folder / ADDED).as_uri())
    expect(page.locator(".flagged")).to_have_count(2)
    readings = page.get_by_role("region", name="Readings")
    expect(readings).to_contain_text("6.001 disagrees")
    expect(readings).to_contain_text("not measured No stripes were found.")

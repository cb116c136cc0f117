"""The page on which people review candidates, in a browser and without a server."""

import csv

import pytest

from assets.kit.verdicts import read_verdicts
from assets.vlmbias.photographs.selection import write_candidates
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.providers import pictures
from tests.waiting import wait_for

EDITS = 20
HOSTILE = """</script>'><img src=x onerror="window.wrong = 1">, {{ 7 * 7 }}"""
SENTENCE = "Accept it if a dog is seen from the side and has exactly 5 legs."


@pytest.fixture
def candidates(tmp_path):
    """Trials of one base image; one of them was no picture, two are the very same one."""
    images = ImageStore(root=str(tmp_path / "50% #1 ?"))
    rows = [
        {
            "sha256": images.put(pictures.png(str(number))),
            "painter": "artist",
            "base_id": "animals/dog",
            "subject": "dog",
            "variant": "counterfactual",
            "edit_number": number,
            "check": "failed" if number == 2 else "unchecked",
            "failed_checks": ["framing"] if number == 2 else [],
            "sentence": SENTENCE,
            "outcome": "candidate",
            "is_stand_in": number == 3,
        }
        for number in range(EDITS)
    ]
    return [
        *rows,
        rows[1] | {"edit_number": EDITS},
        rows[0] | {"outcome": "failed", "sha256": None},
    ]


@pytest.fixture
def opened(tmp_path, candidates, blank):
    """The page, with the first picture rejected before."""
    file = tmp_path / "reviews" / "animals.csv"
    file.parent.mkdir()
    with file.open("w", newline="") as sheet:
        csv.writer(sheet).writerows(
            [["image", "verdict", "reason"], [candidates[0]["sha256"], "reject", HOSTILE]]
        )
    home, images = DataRoot(root=str(tmp_path)), ImageStore(root=str(tmp_path / "50% #1 ?"))
    path = write_candidates(home, images, "animals", candidates, read_verdicts(file))
    page = blank
    page.wrong, page.asked = [], []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    return page


def test_it_shows_each_candidate_and_saves_what_was_decided(opened, candidates, tmp_path):
    page, (first, second) = opened, [row["sha256"] for row in candidates[:2]]
    count = page.locator("#count")
    assert count.inner_text() == f"1 of {EDITS} decided"
    page.locator("article img").first.scroll_into_view_if_needed()
    wait_for(lambda: page.evaluate("document.querySelector('article img').naturalWidth > 0"))
    article = page.locator(f'article:has(input[name="{second}"])')
    assert SENTENCE in article.inner_text()
    assert "edit 1 (artist)" in article.inner_text()
    article.get_by_label("accept").check()
    article.get_by_label("Reason").fill('all five, "really"')
    assert count.inner_text() == f"2 of {EDITS} decided"
    page.get_by_label("Only what is not decided").check()
    assert page.locator("article:visible").count() == EDITS - 2
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the CSV").click()
    assert saved.value.suggested_filename == "animals.csv"
    saved.value.save_as(tmp_path / "reviews" / "animals.csv")
    assert page.wrong == []
    assert page.evaluate("window.wrong") is None
    assert not [url for url in page.asked if not url.startswith(("file:", "blob:"))]
    verdicts = read_verdicts(tmp_path / "reviews" / "animals.csv")
    assert {image: (each.decision, each.reason) for image, each in verdicts.items()} == {
        first: ("reject", HOSTILE),
        second: ("accept", 'all five, "really"'),
    }


def test_it_says_what_a_model_thought_and_what_is_a_stand_in(opened, candidates):
    notes = {
        row["edit_number"]: opened.locator(f'article:has(input[name="{row["sha256"]}"]) .note')
        for row in candidates[:4]
    }
    assert notes[2].inner_text() == "A model answered No to: framing."
    assert notes[3].inner_text().startswith("A stand-in")
    assert notes[1].count() == 0


def test_what_is_not_saved_is_not_lost_by_a_slip(opened):
    assert opened.evaluate("unsaved") is False
    opened.locator("article").nth(1).get_by_label("accept").check()
    assert opened.evaluate("unsaved") is True


def test_it_is_a_grid_that_is_reviewed_by_keys_alone(opened, candidates):
    page = opened
    page.set_viewport_size({"width": 1280, "height": 800})
    wait_for(lambda: page.evaluate("innerWidth === 1280 && innerHeight === 800"))
    columns = page.locator("article").evaluate_all(
        "l => new Set(l.map(each => each.getBoundingClientRect().left)).size"
    )
    assert columns == 4
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    assert page.locator("article").evaluate_all("l => l.every(c => c.scrollWidth <= c.offsetWidth)")
    assert page.evaluate("document.documentElement.scrollHeight") < EDITS * 300
    words = ["n", "n", "a", "r"]
    for key in words:
        page.keyboard.press(key)
    chosen = page.evaluate("articles.map(verdict)")
    assert chosen[:4] == ["reject", "accept", "reject", ""]
    page.keyboard.press("p")
    page.keyboard.press("u")
    assert page.evaluate("articles.map(verdict)")[2] == ""
    page.keyboard.press("e")
    page.keyboard.type("as a pear")
    assert page.locator("article").nth(2).get_by_label("Reason").input_value() == "as a pear"
    assert page.evaluate("articles.map(verdict)")[2] == ""
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert page.evaluate("articles.map(verdict)")[2] == "accept"
    assert page.locator("#count").inner_text() == f"3 of {EDITS} decided"
    page.set_viewport_size({"width": 400, "height": 800})
    wait_for(lambda: page.evaluate("innerWidth === 400"))
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_keys_pass_over_what_is_not_shown(opened):
    page = opened
    page.get_by_label("Only what is not decided").check()
    page.keyboard.press("n")
    page.keyboard.press("a")
    assert page.evaluate("articles.map(verdict)")[:2] == ["reject", "accept"]

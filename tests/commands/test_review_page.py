"""The page of `counterfactory review` in Chromium: decisions by keys, and where they end up."""

import csv
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from assets.vlmbias.photographs.selection import FORM
from tests.conftest import BROWSER_MS
from tests.reviewed import make_candidates, make_scores, serving

pytestmark = pytest.mark.slow

AXE = Path(__file__).parents[1] / "outside" / "node_modules" / "axe-core" / "axe.min.js"
CANDIDATES = "vlmbias/candidates"
KEYS = {"a": ("accept", ""), "r": ("reject", "")} | {
    str(number): ("reject", reason) for number, reason in enumerate(FORM.reasons, 1)
}


class Tab:
    """An annotator's page, with what it asked for and what it complained of."""

    def __init__(self, page, address):
        self.page, self.address, self.requests, self.complaints = page, address, [], []
        page.context.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.goto(address)
        page.locator("#item:visible, #done:visible").wait_for()

    @property
    def item(self):
        """Name of the item on the screen; empty at the end."""
        return self.page.locator("body").get_attribute("data-item").removeprefix("animals/")

    @property
    def is_done(self):
        return self.page.locator("#done").is_visible()

    def text(self, name):
        return self.page.locator(f"#{name}").inner_text()

    def wait_after(self, name):
        self.page.locator(f'body:not([data-item="animals/{name}"])').wait_for(state="attached")

    def press(self, key):
        """Press a key that moves on, and return the name of the item that was on the screen."""
        shown = self.item
        self.page.keyboard.press(key)
        self.wait_after(shown)
        return shown


class Review:
    """A review that is served, whose items are made anew for each test."""

    def __init__(self, root, new_page, address):
        self.root, self.address, self._new_page = root, address, new_page
        self.file = root / "reviews" / "animals.csv"

    def begin(self, numbers):
        self.file.unlink(missing_ok=True)
        return make_candidates(self.root, numbers)

    @contextmanager
    def tabs(self, *names):
        """Pages of these annotators, each in a browser context of its own."""
        with ExitStack() as stack:
            tabs = []
            for name in names:
                page = self._new_page(viewport={"width": 1280, "height": 800})
                stack.callback(page.context.close)
                tabs.append(Tab(page, f"{self.address}?{urlencode({'annotator': name})}"))
            yield tabs

    def read(self):
        """The answers by picture: none may be there twice."""
        rows = self._read_rows()
        answers = {row["image"]: (row["verdict"], row["reason"]) for row in rows}
        assert len(answers) == len(rows)
        return answers

    def count_by_annotator(self):
        return Counter(row["annotator"] for row in self._read_rows())

    def _read_rows(self):
        with self.file.open(newline="", encoding="utf-8-sig") as lines:
            return [*csv.DictReader(lines)]


@pytest.fixture(scope="module")
def served(tmp_path_factory, new_page):
    """One server for all tests that do not end it."""
    root = tmp_path_factory.mktemp("review")
    make_candidates(root, range(2))
    with serving(root, CANDIDATES) as (_, address):
        yield Review(root, new_page, address)


@pytest.fixture
def review(served):
    served.begin(range(12))
    return served


@pytest.fixture
def anna(review):
    with review.tabs("anna") as [tab]:
        yield tab


def test_two_hundred_decisions_by_keys_are_in_the_file_and_nothing_leaves(served):
    rows = served.begin(range(210))
    decided = {}
    with served.tabs("anna") as [anna]:
        for number in range(200):
            key = [*KEYS][number * 7 % len(KEYS)]
            decided[anna.press(key)] = KEYS[key]
            if number % 50 == 49:
                assert served.read() == decided
        assert len(decided) == 200
        assert decided.keys() < {row["sha256"] for row in rows}
        assert anna.text("count").startswith("anna: 200 of 210 decided, 10 left · ")
        assert len([url for url in anna.requests if "/pictures/" in url]) >= 200
        assert [url for url in anna.requests if not url.startswith(served.address)] == []
        assert anna.complaints == []
    assert served.count_by_annotator() == {"anna": 200}


def test_a_server_that_is_killed_loses_no_decision(tmp_path, new_page):
    root = tmp_path / "data"
    make_candidates(root, range(16))
    decided = {}
    with serving(root, CANDIDATES) as (process, address):
        review = Review(root, new_page, address)
        page = new_page()
        anna = Tab(page, f"{address}?annotator=anna")
        for _ in range(5):
            decided[anna.press("a")] = KEYS["a"]
        process.kill()
        process.wait()
        assert review.read() == decided
        unsent = anna.item
        page.keyboard.press("3")
        error = page.locator("#error")
        expect(error).to_contain_text("Your answer (reject) is not written yet", timeout=BROWSER_MS)
        page.keyboard.press("a")
    port = int(address.rstrip("/").rpartition(":")[2])
    with serving(root, CANDIDATES, port=port) as (process, _):
        anna.wait_after(unsent)
        decided[unsent] = KEYS["3"]
        assert review.read() == decided
        expect(error).to_be_hidden()
        # Killed while the answer is under way: it may be written, and the page not know of it.
        under_way = anna.item
        page.keyboard.press("r")
        process.kill()
        process.wait()
    with serving(root, CANDIDATES, port=port):
        anna.wait_after(under_way)
        decided[under_way] = KEYS["r"]
        assert review.read() == decided
        while not anna.is_done:
            decided[anna.press("a")] = KEYS["a"]
        assert review.read() == decided
        assert len(decided) == 16
    page.context.close()


def test_a_page_of_another_review_loads_its_form(tmp_path, new_page):
    root = tmp_path / "data"
    make_candidates(root, range(2))
    make_scores(root, range(2))
    page = new_page()
    with serving(root, CANDIDATES) as (_, address):
        anna = Tab(page, f"{address}?annotator=anna")
    port = int(address.rstrip("/").rpartition(":")[2])
    with serving(root, "protobias/human_scores", port=port):
        page.keyboard.press("2")
        expect(page.locator("h1")).to_have_text("Review of protobias/human_scores")
        expect(page.locator("#error")).to_contain_text("nothing was written")
        assert page.locator("#reasons").is_hidden()
        reviews, scores = root / "reviews", root / "reviews" / "protobias" / "artist" / "anna.csv"
        assert not [path for path in (reviews / "animals.csv", scores) if path.exists()]
        anna.press("2")
        expect(page.locator("#error")).to_be_hidden()
        with scores.open(newline="") as lines:
            assert [row["score"] for row in csv.DictReader(lines)] == ["2"]
    page.context.close()


def test_a_page_of_other_parts_loads_the_form_again(anna):
    replies = []

    def name_other_parts(route):
        replies.append(route.fetch().json() | {"parts": ["logos"]})
        route.fulfill(json=replies[0])

    anna.page.route("**/undo", name_other_parts)
    anna.page.keyboard.press("u")
    expect(anna.page.locator("#error")).not_to_be_empty()
    assert anna.page.locator("#error").inner_text() == replies[0]["message"]
    assert len([url for url in anna.requests if url.endswith("/form")]) == 2


def decide_all(tabs, keys):
    """Press keys in turn, without waiting for another's page, until each page is at its end."""
    for _ in range(200):
        shown = [(tab, key) for tab, key in zip(tabs, keys, strict=True) if not tab.is_done]
        if not shown:
            return
        for tab, key in shown:
            tab.page.keyboard.press("s" if tab.page.locator("#conflict").is_visible() else key)
    raise AssertionError("not all are decided")


def test_two_annotators_at_once_lose_nothing_and_decide_nothing_twice(review):
    rows = review.begin(range(40))
    with review.tabs("anna", "ben") as tabs:
        assert tabs[0].item != tabs[1].item
        decide_all(tabs, "a2")
        assert all("40 of 40 decided" in tab.text("count") for tab in tabs)
    answers = review.read()
    assert answers.keys() == {row["sha256"] for row in rows}
    counts = review.count_by_annotator()
    assert counts.keys() == {"anna", "ben"}
    assert Counter(answers.values()) == {KEYS["a"]: counts["anna"], KEYS["2"]: counts["ben"]}
    assert min(counts.values()) > 10


def test_the_same_annotator_in_two_windows_decides_each_once(review):
    rows = review.begin(range(24))
    with review.tabs("anna", "anna") as tabs:
        assert tabs[0].item != tabs[1].item
        decide_all(tabs, "ar")
    assert review.read().keys() == {row["sha256"] for row in rows}
    assert review.count_by_annotator() == {"anna": 24}


def test_what_somebody_decided_meanwhile_is_replaced_only_when_answered_again(review, anna):
    shown = anna.item
    review.file.write_text(f"image,verdict,reason,annotator\n{shown},accept,,ben\n")
    anna.page.keyboard.press("1")
    conflict = anna.page.locator("#conflict")
    expect(conflict).to_contain_text("ben has answered this meanwhile: accept.")
    assert (anna.item, review.read()) == (shown, {shown: ("accept", "")})
    anna.press("1")
    assert review.read() == {shown: KEYS["1"]}


def test_a_browser_that_is_closed_goes_on_where_it_stopped(review):
    with review.tabs("anna") as [first]:
        decided = {first.press(key): KEYS[key] for key in "ar5"}
        on_screen = first.item
    with review.tabs("anna") as [second]:
        assert second.text("count").startswith("anna: 3 of 12 decided, 9 left")
        assert second.item == on_screen
        while not second.is_done:
            decided[second.press("a")] = KEYS["a"]
        assert second.page.title() == f"12 of 12: {CANDIDATES}"
        assert "min left" not in second.text("count")
    assert review.read() == decided
    assert len(decided) == 12


def test_pictures_that_changed_meanwhile_are_said_and_set_aside(review, anna):
    decided = {anna.press("a") for _ in range(6)}
    on_screen = anna.item
    rows = make_candidates(review.root, range(100, 104))
    anna.press("r")
    assert "not under review any more: your decision was not written" in anna.text("message")
    assert "New items: 4; gone: 12" in anna.text("message")
    assert anna.item in {row["sha256"] for row in rows}
    assert anna.text("outdated").startswith("6 answers are about what is not under review now")
    assert review.read().keys() == decided
    anna.page.locator("#aside").focus()
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator("#outdated")).to_be_hidden()
    assert anna.text("message").startswith("Set aside: animals.csv.outdated in ")
    assert review.read() == {}
    aside = review.file.with_name("animals.csv.outdated")
    assert on_screen not in aside.read_text()
    assert all(name in aside.read_text() for name in decided)
    aside.unlink()
    new = anna.press("a")
    assert review.read() == {new: KEYS["a"]}


def test_one_outdated_answer_is_one(review):
    review.file.write_text(f"image,verdict,reason,annotator\n{'0' * 64},accept,,anna\n")
    with review.tabs("anna") as [anna]:
        assert anna.text("outdated").startswith(
            "1 answer is about what is not under review now and stays in the file: 000000000000"
        )


def test_a_name_that_is_refused_stays_to_be_changed(review, blank):
    blank.goto(review.address)
    name = blank.locator("#who input")
    name.fill("Zoë O'Neil")
    name.press("Enter")
    expect(blank.locator("#error")).to_contain_text('Annotator "Zoë O\'Neil"')
    expect(name).to_have_value("Zoë O'Neil")
    expect(name).to_be_focused()


def test_undo_shows_the_last_one_again(review, anna):
    first, second = anna.press("a"), anna.press("r")
    third = anna.item
    anna.press("u")
    assert (anna.item, anna.text("message")) == (second, "Undone: reject.")
    assert review.read() == {first: KEYS["a"]}
    anna.press("4")
    assert anna.item == third
    assert review.read() == {first: KEYS["a"], second: KEYS["4"]}


def test_a_check_of_a_model_is_unseen_until_the_decision(anna):
    for _ in range(6):
        assert "model" not in anna.page.locator("#item").inner_text()
        anna.press("a")
        assert " · A model" in anna.text("last")


def test_a_typed_reason_is_kept_until_it_is_written(review, anna):
    shown, reason = anna.item, anna.page.locator("#reason")
    review.file.write_text(f"image,verdict,reason,annotator\n{shown},accept,,ben\n")
    anna.page.keyboard.press("e")
    anna.page.keyboard.type("three legs")
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator("#conflict")).to_contain_text("Your answer was not written")
    assert (anna.item, reason.input_value()) == (shown, "three legs")
    anna.page.keyboard.press("e")
    anna.press("Enter")
    assert review.read() == {shown: ("reject", "three legs")}
    assert reason.input_value() == ""


def test_caps_lock_does_not_silence_the_keys(review, anna):
    decided = {anna.press(key): KEYS[key.lower()] for key in "AR"}
    assert review.read() == decided


def test_messages_are_in_the_window_and_the_form_scrolls(anna):
    page, footer = anna.page, anna.page.locator("footer")
    for width, height in ((1366, 625), (1280, 600), (1280, 720), (400, 700)):
        page.set_viewport_size({"width": width, "height": height})
        box = footer.bounding_box()
        assert box["y"] + box["height"] <= height, (width, height)
        if width > 800:
            assert page.evaluate("document.documentElement.scrollHeight") == height
        page.locator("#guidelines").scroll_into_view_if_needed()
        box, top = page.locator("#guidelines").bounding_box(), footer.bounding_box()["y"]
        assert box["y"] + box["height"] <= top, (width, height)
        page.evaluate("scrollTo(0, 0)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (400, 800)])
def test_it_is_open_to_everybody(review, anna, size, scheme):
    width, height = size
    anna.page.emulate_media(color_scheme=scheme)
    anna.page.set_viewport_size({"width": width, "height": height})
    assert anna.page.evaluate("document.documentElement.scrollWidth") <= width
    anna.page.evaluate(AXE.read_text("utf-8"))
    options = "{preload: false, resultTypes: ['violations']}"
    violations = anna.page.evaluate(f"axe.run({options})")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []

"""The review page over HTTP: what is written of a decision, and what is said where none is."""

import asyncio
import csv
import errno
import fcntl
import io
import os
import resource
import threading
from asyncio import CancelledError
from collections import Counter

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient
from upath import UPath

from assets.kit.review import review_sheet
from assets.kit.score_files import check_scores, read_score_files
from assets.kit.verdicts import read_panel, read_verdicts
from assets.protobias.human_scores import FORM as SCORES
from assets.vlmbias.photographs.selection import write_candidates
from commands.review_page import answer_files
from commands.review_page.answer_files import parse_annotator
from commands.review_page.server import ReviewServer
from commands.review_page.session import ReviewSession
from resources.storage.files import read_file
from tests import reviewed
from tests.ports import free_port
from tests.reviewed import make_candidates, make_pairs, make_scores, open_home

CANDIDATES, HUMAN_SCORES = "vlmbias/candidates", "protobias/human_scores"
PARTS = {
    CANDIDATES: "animals",
    HUMAN_SCORES: "artist",
    "vhexpansion/negated_cases": "flags/grammar",
}


class Window:
    """A window of the page, as its script talks with the server."""

    def __init__(self, client, annotator, name=None):
        asset = client.get("/form").json()["asset"]
        self.client = client
        self.names = {"annotator": annotator, "window": name or annotator, "asset": asset}
        self.see()

    def see(self):
        return self._take(self.client.get("/state", params=self.names))

    def send(self, action, **content):
        return self._take(self.client.post(f"/{action}", json={**self.names, **content}))

    def decide(self, value, reason="", **content):
        content = {"item": self.key, "value": value, "reason": reason, **content}
        return self.send("decide", **content)

    def _take(self, response):
        self.state = response.json()
        return self.state

    @property
    def key(self):
        return self.state["items"][0]["key"]

    @property
    def name(self):
        return self.key.removeprefix("animals/").removeprefix("flags/grammar/")


def open_client(root, asset=CANDIDATES, seed=0):
    """A server of its own process, as far as files are concerned."""
    home, images = open_home(root)
    session = ReviewSession(home.path("reviews"), asset, [PARTS[asset]], seed)
    return TestClient(ReviewServer(session, images).build_app(), base_url="http://127.0.0.1")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def file(root):
    return UPath(root / "reviews" / "animals.csv")


@pytest.fixture
def rows(root):
    return make_candidates(root, range(12))


@pytest.fixture
def anna(root, rows):
    return Window(open_client(root), "anna")


def read_lines(path):
    with path.open(newline="", encoding="utf-8-sig") as lines:
        return [*csv.DictReader(lines)]


class TestFiles:
    def test_a_verdict_is_what_its_asset_reads(self, anna, file, rows):
        first = anna.name
        anna.decide("accept")
        second = anna.name
        anna.decide("reject", 'six legs, "really"\nsix')
        assert {name: answer[:2] for name, answer in read_verdicts(file).items()} == {
            first: ("accept", ""),
            second: ("reject", 'six legs, "really" six'),
        }
        given = {row["sha256"]: row for row in rows}
        for line in read_lines(file):
            assert line["annotator"] == "anna"
            assert line["subject"] == given[line["image"]]["subject"]
        assert (anna.state["done"], anna.state["total"]) == (2, 12)

    def test_a_score_is_what_its_asset_reads(self, root):
        rows = make_scores(root, range(4))
        anna, ben = (Window(open_client(root, HUMAN_SCORES), name) for name in ("anna", "ben"))
        folder = UPath(root / "reviews" / "protobias" / "artist")
        for window, scores in ((anna, "123"), (ben, "44")):
            for score in scores:
                window.decide(score)
        pictures = {row["sha256"]: [row] for row in rows}
        scores = check_scores(read_score_files(folder, SCORES), SCORES, pictures)
        assert Counter((score.annotator, score.score) for score in scores) == {
            ("anna", 1): 1,
            ("anna", 2): 1,
            ("anna", 3): 1,
            ("ben", 4): 2,
        }
        before = read_file(folder / "anna.csv")
        anna.decide("9")
        assert "Choose from 4, 3, 2, 1" in anna.state["error"]
        anna.see()
        anna.decide("4", "wrong count")
        assert anna.state["error"].startswith("'wrong count': this form takes no reasons.")
        assert read_file(folder / "anna.csv") == before

    def test_a_pair_is_what_its_panel_reads(self, root):
        make_pairs(root, range(3))
        client = open_client(root, "vhexpansion/negated_cases")
        window = Window(client, "anna")
        assert window.state["items"][0]["lines"][0][1].startswith("Is there a star")
        first = window.name
        window.decide("reject", "two readings")
        panel = read_panel(UPath(root / "reviews/vhexpansion/flags/grammar"), "pair")
        assert panel["anna"][first][:2] == ("reject", "two readings")

    def test_a_reason_goes_with_a_rejection_alone(self, anna, file):
        anna.decide("accept", "wrong count")
        assert anna.state["error"] == (
            "'wrong count': a reason goes with 'reject', not with 'accept'. "
            "Send 'accept' without a reason."
        )
        assert not file.exists()

    def test_undo_takes_back_just_the_last_one(self, anna, file):
        anna.decide("accept")
        before, second = read_file(file), anna.name
        anna.decide("reject", "wrong count")
        anna.send("undo")
        assert read_file(file) == before
        assert anna.name == second
        assert anna.state["message"] == "Undone: reject."
        anna.send("undo")
        assert read_verdicts(file) == {}
        anna.send("undo")
        assert anna.state["message"] == "There is nothing to undo."

    def test_a_file_half_filled_by_hand_is_kept_and_continued(self, root, rows, file):
        digests = [row["sha256"] for row in rows]
        mine = f'\ufeffverdict,image,mine,reason\naccept,{digests[0]},"a, b",\n,{digests[1]},,'
        file.write_bytes(mine.encode())
        anna = Window(open_client(root), "anna")
        assert anna.state["done"] == 1
        keys = []
        while anna.state["items"]:
            keys.append(anna.name)
            anna.decide("reject")
        assert sorted(keys) == sorted(digests[1:])
        assert read_file(file).startswith(b"\xef\xbb\xbf")
        first, blank, *lines = read_lines(file)
        assert (first["mine"], first["annotator"]) == ("a, b", "")
        assert (blank["verdict"], len(lines)) == ("", 11)
        assert read_verdicts(file)[digests[0]].decision == "accept"

    def test_a_sheet_that_leaves_the_annotator_to_its_name_goes_on_so(self, root):
        rows = make_scores(root, range(4))
        folder = UPath(root / "reviews" / "protobias" / "artist")
        sheet = (folder / "to-score.csv").read_text()
        digest = rows[0]["sha256"]
        filled = sheet.replace(f"images/{digest}.png,,", f"images/{digest}.png,4,")
        (folder / "Anna.csv").write_text(filled)
        anna = Window(open_client(root, HUMAN_SCORES), "anna")
        assert anna.state["done"] == 1
        anna.decide("2")
        assert not (folder / "anna.csv").exists()
        pictures = {row["sha256"]: [row] for row in rows}
        scores = check_scores(read_score_files(folder, SCORES), SCORES, pictures)
        assert [(score.annotator, score.score) for score in scores] == [("Anna", 4), ("Anna", 2)]

    def test_a_file_begun_with_equal_chances_goes_on_with_others(self, root):
        """A new file and one of before keep the chance of each picture that is scored from now."""
        make_scores(root, range(2))
        Window(open_client(root, HUMAN_SCORES), "anna").decide("4")
        make_scores(root, range(4), chance=0.25)
        client = open_client(root, HUMAN_SCORES)
        for name in ("anna", "ben"):
            window = Window(client, name)
            window.decide("3")
            window.decide("2")
        folder = UPath(root / "reviews" / "protobias" / "artist")
        scores = [(x.annotator, x.score, x.chance) for x in read_score_files(folder, SCORES)]
        assert scores == [
            *(("anna", 4, None), ("anna", 3, 0.25), ("anna", 2, 0.25)),
            *(("ben", 3, 0.25), ("ben", 2, 0.25)),
        ]
        assert "chance" not in window.state["items"][0]

    def test_a_damaged_file_is_named_and_goes_on_once_it_is_mended(self, anna, file):
        anna.decide("accept")
        good = read_file(file)
        file.write_bytes(good + b"damaged,maybe\r\n")
        first = anna.name
        anna.decide("accept", item=anna.key)
        assert f"{file}, line 3: it has 2 cells" in anna.state["error"]
        assert read_file(file) == good + b"damaged,maybe\r\n"
        file.write_bytes(good)
        anna.see()
        assert anna.name == first
        anna.decide("accept")
        assert anna.state["done"] == 2

    def test_what_cannot_be_flushed_is_not_written(self, anna, file, monkeypatch):
        anna.decide("accept")
        before = read_file(file)

        def fail(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            anna.decide("reject", item=anna.key)
        assert "No space is left" in anna.state["error"]
        assert read_file(file) == before
        anna.see()
        anna.decide("reject")
        assert len(read_verdicts(file)) == 2

    def test_a_line_that_is_written_in_part_is_taken_back(self, anna, file):
        """The system takes part of the line, as a full disk does, and refuses the rest."""
        anna.decide("accept")
        before = read_file(file)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, limits[1]))
        try:
            anna.decide("reject", item=anna.key)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "File too large" in anna.state["error"]
        assert read_file(file) == before
        anna.see()
        anna.decide("reject")
        assert len(read_verdicts(file)) == 2

    def test_an_undo_that_fails_is_tried_again_on_the_same_decision(self, anna, file, monkeypatch):
        first = anna.name
        anna.decide("accept")
        second = anna.name
        anna.decide("reject")

        def fail(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            anna.send("undo")
        assert "No space is left" in anna.state["error"]
        assert read_verdicts(file).keys() == {first, second}
        anna.send("undo")
        assert anna.state["message"] == "Undone: reject."
        assert read_verdicts(file).keys() == {first}

    def test_a_folder_that_another_process_keeps_is_named(self, anna, file, monkeypatch):
        monkeypatch.setattr(answer_files, "_TURN_S", 0.0)
        descriptor = os.open(file.parent.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            anna.decide("accept", item=anna.key)
        finally:
            os.close(descriptor)
        problem = f"{file.parent}: another process has locked this folder"
        assert anna.state["error"].startswith(problem)
        assert not file.exists()
        anna.see()
        anna.decide("accept")
        assert len(read_verdicts(file)) == 1

    def test_formulas_are_guarded(self, anna, file):
        anna.decide("reject", "=1+1")
        assert b"'=1+1" in read_file(file)
        [verdict] = read_verdicts(file).values()
        assert verdict.reason == "=1+1"

    def test_it_goes_on_with_a_sheet_saved_from_the_page_in_a_file(self, root, rows, file):
        sheet = read_file(review_sheet(file)).decode()
        lines = [*csv.reader(io.StringIO(sheet))]
        lines[1][1] = "accept"
        with file.open("w", newline="") as saved:
            csv.writer(saved).writerows(lines)
        window = Window(open_client(root), "anna")
        assert window.state["done"] == 1
        window.decide("reject")
        home, images = open_home(root)
        write_candidates(home, images, "animals", rows, read_verdicts(file))
        verdicts = [line["verdict"] for line in read_lines(review_sheet(file))]
        assert Counter(verdicts) == {"": 10, "accept": 1, "reject": 1}

    def test_any_kind_of_address_can_be_reviewed(self, address):
        make_candidates(address, range(4))
        window = Window(open_client(address), "anna")
        for value in ("accept", "reject", "reject"):
            window.decide(value)
        window.send("undo")
        file = UPath(address) / "reviews" / "animals.csv"
        verdicts = read_verdicts(file).values()
        assert Counter(verdict.decision for verdict in verdicts) == {"accept": 1, "reject": 1}
        picture = window.state["items"][0]["pictures"][0][0]
        assert window.client.get(f"/pictures/{picture}.png").content.startswith(b"\x89PNG")


class TestOrder:
    def test_it_is_by_the_seed_alone(self, root, rows):
        first, again, other = (
            [item["key"] for item in Window(open_client(root, seed=seed), name).state["items"]]
            for seed, name in ((0, "anna"), (0, "ben"), (1, "anna"))
        )
        assert first == again != other

    def test_stand_ins_come_last(self, root, rows):
        home, images = open_home(root)
        marked = [row | {"is_stand_in": place < 3} for place, row in enumerate(rows)]
        write_candidates(home, images, "animals", marked, {})
        window, names = Window(open_client(root), "anna"), []
        while window.state["items"]:
            names.append(window.name)
            window.decide("accept")
        assert {*names[-3:]} == {row["sha256"] for row in rows[:3]}

    def test_an_edit_is_beside_its_original(self, anna, rows):
        given = {row["sha256"]: row for row in rows}
        while anna.state["items"]:
            pictures = [given[digest] for digest, _ in anna.state["items"][0]["pictures"]]
            variants = [row["variant"] for row in pictures]
            assert variants in (["original"], ["counterfactual", "original"])
            assert len({row["subject"] for row in pictures}) == 1
            anna.decide("accept")

    def test_what_is_left_for_later_comes_at_the_end(self, anna):
        first = anna.key
        anna.send("skip", item=first)
        keys = []
        while anna.state["items"]:
            keys.append(anna.key)
            anna.decide("accept")
        assert len(keys) == 12
        assert keys[-1] == first

    def test_a_check_is_hidden_until_the_decision(self, anna, rows):
        given = {row["sha256"]: row for row in rows}
        seen = set()
        while anna.state["items"]:
            assert "framing" not in str(anna.state["items"])
            assert "failed" not in str(anna.state["items"])
            row = given[anna.name]
            anna.decide("accept")
            notes = anna.state["last"]["notes"]
            seen.add((row["check"], *notes))
        assert seen == {
            ("failed", "A model answered No to: framing."),
            ("passed", "A model's check says accept."),
        }
        [sentence] = anna.client.get("/agreement", params={"annotator": "anna"}).json()
        assert sentence.startswith("the model's check: 10 of 12 the same")

    def test_what_a_rule_failed_is_no_check_of_a_model(self, root, rows):
        home, images = open_home(root)
        failed = {"check": "failed", "failed_checks": ["unchanged"], "decided_by": "rule"}
        write_candidates(home, images, "animals", [rows[0], rows[1] | failed], {})
        anna, notes = Window(open_client(root), "anna"), {}
        while anna.state["items"]:
            name = anna.name
            anna.decide("accept")
            notes[name] = anna.state["last"]["notes"]
        assert notes == {
            rows[0]["sha256"]: ["A model's check says accept."],
            rows[1]["sha256"]: ["A rule failed it: unchanged."],
        }
        [sentence] = anna.client.get("/agreement", params={"annotator": "anna"}).json()
        assert sentence.startswith("the model's check: 1 of 1 the same")


class TestSeveral:
    def test_two_annotators_share_what_needs_one_answer(self, root, rows, file):
        client = open_client(root)
        anna, ben = Window(client, "anna"), Window(client, "ben")
        assert anna.key != ben.key
        while anna.state["items"] or ben.state["items"]:
            for window, value in ((anna, "accept"), (ben, "reject")):
                if window.state["items"]:
                    window.decide(value)
                window.see()
        lines = read_lines(file)
        assert len(lines) == len({line["image"] for line in lines}) == 12
        assert Counter(line["annotator"] for line in lines) == {"anna": 6, "ben": 6}

    def test_each_scores_all_and_sees_the_agreement(self, root):
        make_scores(root, range(4))
        client = open_client(root, HUMAN_SCORES)
        anna, ben = Window(client, "anna"), Window(client, "ben")
        for scores, window in (("1234", anna), ("1244", ben)):
            for score in scores:
                window.decide(score)
        assert anna.state["items"] == ben.state["items"] == []
        # 1 less the mean squared difference (1/4) over that of all 16 pairs of scores (3).
        said = client.get("/agreement", params={"annotator": "Anna"}).json()
        assert said == [f"ben: 3 of 4 the same, κ {1 - 1 / 12:.2f}"]

    def test_another_process_s_answer_is_never_overwritten_unseen(self, root, rows, file):
        anna, ben = (Window(open_client(root), name) for name in ("anna", "ben"))
        key = anna.key
        assert ben.key == key
        anna.decide("accept")
        ben.decide("reject", "wrong count")
        assert ben.key == key
        assert ben.state["conflict"] == {"value": "accept", "reason": "", "annotator": "anna"}
        assert [line["verdict"] for line in read_lines(file)] == ["accept"]
        ben.decide("reject", "wrong count", replaces="accept")
        [line] = read_lines(file)
        assert (line["verdict"], line["reason"], line["annotator"]) == (
            "reject",
            "wrong count",
            "ben",
        )
        ben.send("undo")
        [line] = read_lines(file)
        assert (line["verdict"], line["reason"], line["annotator"]) == ("accept", "", "anna")

    def test_an_answer_sent_twice_is_written_once(self, anna, file):
        key = anna.key
        anna.decide("accept")
        anna.decide("accept", item=key)
        assert anna.state["conflict"] is None
        assert len(read_lines(file)) == 1

    def test_two_windows_of_one_annotator_get_different_items(self, root):
        make_scores(root, range(6))
        client = open_client(root, HUMAN_SCORES)
        first, second = (Window(client, "anna", name) for name in ("one", "two"))
        assert first.key != second.key
        second.send("leave")
        third = Window(client, "anna", "three")
        assert third.key != first.key
        while first.state["items"] or third.state["items"]:
            for window in (first, third):
                window.see()
                if window.state["items"]:
                    window.decide("3")
        lines = read_lines(root / "reviews" / "protobias" / "artist" / "anna.csv")
        assert len({line["image"] for line in lines}) == len(lines) == 6

    def test_processes_at_once_lose_nothing_and_write_nothing_twice(self, root, file):
        rows = make_candidates(root, range(40))
        conflicts = []

        def review(name):
            window = Window(open_client(root), name)
            while window.state["items"]:
                window.decide("accept" if name == "anna" else "reject")
                if window.state.get("conflict"):
                    conflicts.append(window.name)
                    window.send("skip", item=window.key)

        threads = [threading.Thread(target=review, args=[name]) for name in ("anna", "ben", "anna")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        images = [line["image"] for line in read_lines(file)]
        assert sorted(images) == sorted(row["sha256"] for row in rows)


class TestChanged:
    def test_pictures_made_anew_are_named_and_other_decisions_stay(self, anna, root, file):
        for _ in range(6):
            anna.decide("accept")
        decided = {*read_verdicts(file)}
        rows = make_candidates(root, range(8, 20))
        gone = decided - {row["sha256"] for row in rows}
        anna.see()
        assert anna.state["message"] == (
            "vlmbias/candidates was materialized meanwhile. New items: 8; gone: 8."
        )
        assert anna.state["done"] == 6 - len(gone)
        assert anna.state["outdated"]["count"] == len(gone) > 0
        name = anna.state["outdated"]["names"][0]
        assert any(digest.startswith(name[:12]) for digest in gone)
        before = read_verdicts(file)
        anna.send("set-aside")
        assert anna.state["outdated"]["count"] == 0
        kept = read_verdicts(file)
        now = {row["sha256"] for row in rows}
        assert {*kept} == {digest for digest in before if digest in now}
        aside = read_file(file.with_name("animals.csv.outdated")).decode()
        assert all(digest in aside for digest in gone)

    def test_a_decision_on_what_is_gone_is_not_written(self, anna, root, file):
        old = anna.key
        make_candidates(root, range(100, 104))
        anna.decide("accept", item=old)
        assert "not under review any more: your decision was not written" in anna.state["message"]
        assert not file.exists()
        assert anna.state["total"] == 4

    def test_a_picture_with_another_text_is_scored_again(self, root):
        make_scores(root, range(3))
        window = Window(open_client(root, HUMAN_SCORES), "anna")
        window.decide("4")
        make_scores(root, range(3), text="A robin.")
        window.see()
        assert (window.state["done"], window.state["outdated"]["count"]) == (0, 1)
        window.send("set-aside")
        assert window.state["outdated"]["count"] == 0
        for _ in range(3):
            window.decide("1")
        assert window.state["done"] == 3

    def test_a_score_of_another_text_takes_the_place_of_the_earlier_one(self, root):
        make_scores(root, range(1))
        window = Window(open_client(root, HUMAN_SCORES), "anna")
        window.decide("4")
        rows = make_scores(root, range(1), text="A robin.")
        window.see()
        window.decide("1")
        assert window.state["message"].startswith(
            "Your answer to its earlier text (4) is in anna.csv.outdated now."
        )
        folder = UPath(root / "reviews" / "protobias" / "artist")
        pictures = {row["sha256"]: [row] for row in rows}
        scores = check_scores(read_score_files(folder, SCORES), SCORES, pictures)
        assert [(score.score, score.text) for score in scores] == [(1, "A robin. 0")]
        assert b"A penguin on a stone. 0" in read_file(folder / "anna.csv.outdated")
        again = Window(open_client(root, HUMAN_SCORES), "anna")
        assert (again.state["done"], again.state["outdated"]["count"]) == (1, 0)

    @pytest.mark.parametrize("has_own_file", [False, True])
    def test_outdated_scores_in_a_file_of_another_name_are_named(self, root, has_own_file):
        rows = make_scores(root, range(2))
        folder = UPath(root / "reviews" / "protobias" / "artist")
        head = "image,text,score,annotator\n"
        team, own = folder / "team.csv", folder / "anna.csv"
        line = f"{rows[0]['sha256']},{rows[0]['text']},4,anna\n"
        team.write_text(head + line)
        if has_own_file:
            own.write_text(head)
        make_scores(root, range(2), text="A robin.")
        window = Window(open_client(root, HUMAN_SCORES), "anna")
        assert window.state["outdated"]["count"] == 1
        outdated_key = f"artist/{rows[0]['sha256']}"
        for action, content in (
            ("set-aside", {}),
            ("decide", {"item": outdated_key, "value": "1"}),
        ):
            window.send(action, **content)
            problem = f"{team}, line 2: the outdated answer to {rows[0]['sha256']} cannot be moved"
            assert window.state["error"].startswith(problem)
        assert team.read_text() == head + line
        assert (own.read_text() if has_own_file else "") == head * has_own_file
        assert not (folder / "anna.csv.outdated").exists()

    def test_parts_that_are_gone_are_named_until_they_are_back(self, anna, root):
        [part] = (root / "reviews" / ".forms").rglob("*.json")
        content = part.read_bytes()
        part.unlink()
        for _ in range(2):
            anna.see()
            assert "Materialize it again: counterfactory run vlmbias/c" in anna.state["error"]
        part.write_bytes(content)
        anna.see()
        assert (anna.state["total"], len(anna.state["items"])) == (12, 5)


class TestAnotherReview:
    @pytest.fixture
    def scorer(self, root):
        make_scores(root, range(3))
        scorer = Window(open_client(root, HUMAN_SCORES), "anna")
        scorer.decide("3")
        return scorer

    @pytest.mark.parametrize("names", [{"asset": CANDIDATES}, {}])
    def test_a_page_of_another_asset_changes_nothing(self, root, scorer, names):
        path = root / "reviews" / "protobias" / "artist" / "anna.csv"
        before = path.read_bytes()
        item = {"item": scorer.key, "value": "4"}
        for action, content in (("decide", item), ("undo", {}), ("skip", item), ("set-aside", {})):
            body = {"annotator": "anna", "window": "old", **names, **content}
            reply = scorer.client.post(f"/{action}", json=body)
            assert reply.status_code == 409
            assert reply.json() == {
                "asset": HUMAN_SCORES,
                "parts": ["artist"],
                "error": "protobias/human_scores is under review here now, and your page showed "
                "another review: nothing was written. Go on here, or start the other review again.",
            }
        assert path.read_bytes() == before

    def test_each_state_and_the_form_name_the_review(self, scorer):
        for reply in (scorer.client.get("/form").json(), scorer.see(), scorer.send("undo")):
            assert (reply["asset"], reply["parts"]) == (HUMAN_SCORES, ["artist"])


class TestServer:
    @pytest.mark.parametrize("ending", [CancelledError, ClientDisconnect])
    def test_a_request_that_is_cut_off_raises_nothing(self, root, rows, ending):
        async def receive():
            raise ending

        home, images = open_home(root)
        session = ReviewSession(home.path("reviews"), CANDIDATES, ["animals"], 0)
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        reply = asyncio.run(ReviewServer(session, images).act(request))
        assert (reply.status_code, b"may not be written" in reply.body) == (503, True)

    def test_what_nobody_expects_is_answered_in_words(self, anna, monkeypatch):
        def fail(*_):
            raise KeyError("column")

        monkeypatch.setattr(ReviewSession, "decide", fail)
        reply = anna.client.post("/decide", json={**anna.names, "item": anna.key, "value": "x"})
        assert (reply.status_code, "KeyError: 'column'" in reply.json()["error"]) == (500, True)

    @pytest.mark.parametrize(
        "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}]
    )
    def test_other_sites_are_refused(self, anna, file, headers):
        body = {**anna.names, "item": anna.key, "value": "accept"}
        assert anna.client.post("/decide", json=body, headers=headers).status_code == 403
        assert anna.client.get("/state", params=anna.names, headers=headers).status_code == 403
        assert not file.exists()

    def test_only_pictures_under_review_are_served(self, anna, root):
        _, images = open_home(root)
        other = images.put(b"\x89PNG another")
        for name in (other, "..%2Fanimals", "0" * 64, "x"):
            assert anna.client.get(f"/pictures/{name}.png").status_code == 404

    def test_a_picture_that_is_gone_is_said(self, anna, root):
        digest = anna.state["items"][0]["pictures"][0][0]
        (root / "images" / digest[:2] / f"{digest}.png").unlink()
        reply = anna.client.get(f"/pictures/{digest}.png")
        assert (reply.status_code, "is gone" in reply.text) == (404, True)

    @pytest.mark.parametrize(
        "name", ["", " ", ".anna", "../anna", "a/b", "to-score", "sheet-to-review", "a" * 61, "a\0"]
    )
    def test_a_name_that_names_no_file_is_refused(self, anna, name):
        with pytest.raises(ValueError, match="Annotator"):
            parse_annotator(name)
        reply = anna.client.get("/state", params={"annotator": name})
        assert (reply.status_code, "Annotator" in reply.json()["error"]) == (409, True)

    @pytest.mark.parametrize("name", ["to-score", "To-Score", "sheet-to-review"])
    def test_a_name_of_a_sheet_is_refused_for_it(self, name):
        with pytest.raises(ValueError, match="Annotator") as refusal:
            parse_annotator(name)
        assert str(refusal.value) == (
            f"Annotator '{name}': the sheets to fill in have this name. Write another, such as "
            "your first name."
        )

    def test_names_of_people_are_taken(self):
        names = ["anna", "Anna B.", "José", "anna@example.org", "李", "a-b_c 2"]
        assert [parse_annotator(name) for name in names] == names

    @pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"1"])
    def test_what_is_no_request_of_the_page_is_refused(self, anna, body):
        assert anna.client.post("/decide", content=body).status_code == 400
        assert anna.client.post("/nothing", json={"annotator": "a"}).status_code == 404

    def test_replies_forbid_what_the_page_does_not_need(self, anna):
        policy = anna.client.get("/").headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "http" not in policy


class TestCommand:
    def test_it_lists_what_can_be_reviewed(self, command, tmp_path):
        make_candidates(tmp_path / "data", range(2))
        listed = command("review")
        assert listed.exit_code == 0
        lines = {line.split()[0]: line for line in listed.stdout.splitlines() if "/" in line}
        assert "animals" in lines[CANDIDATES]
        assert "not materialized" in lines[HUMAN_SCORES]
        assert lines.keys() >= {"frame/instructions", "frame/human_scores"}

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["vlmbias/candidate"], "there is no such asset, did you mean vlmbias/candidates?"),
            (["vlmbias/questions"], "it has no form for people to fill in"),
            (["animals"], "there is no such asset. Choose from"),
            ([HUMAN_SCORES], "not materialized yet"),
            ([CANDIDATES, "--part", "animal"], "has no part 'animal', did you mean animals?"),
            ([CANDIDATES, "--annotator", "a/b"], "Annotator 'a/b'"),
        ],
    )
    def test_what_cannot_be_reviewed_is_explained(self, command, tmp_path, arguments, told):
        make_candidates(tmp_path / "data", range(2))
        refused = command("review", *arguments)
        assert refused.exit_code == 2
        assert told in refused.stderr
        assert refused.stderr.startswith(arguments[0] if "a/b" not in arguments else "Annotator")

    def test_a_port_that_is_taken_is_said(self, command, tmp_path):
        make_candidates(tmp_path / "data", range(2))
        with reviewed.listening(free_port()) as port:
            refused = command("review", CANDIDATES, "--port", port)
        assert refused.exit_code == 2
        assert f"Port {port} of 127.0.0.1: Address already in use" in refused.stderr

    def test_damaged_files_are_named_before_anything_is_served(self, command, tmp_path):
        root = tmp_path / "data"
        make_candidates(root, range(2))
        (root / "reviews" / "animals.csv").write_text("image,verdict,reason\na,maybe,\n")
        refused = command("review", CANDIDATES, "--port", free_port())
        assert (refused.exit_code, "line 2: `verdict` is 'maybe'" in refused.stderr) == (2, True)
        [part] = (root / "reviews" / ".forms").rglob("*.json")
        part.write_text("{")
        refused = command("review", CANDIDATES, "--port", free_port())
        assert refused.exit_code == 2
        assert f"{part}: cannot be read. Materialize vlmbias/candidates again" in refused.stderr

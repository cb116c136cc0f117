"""Panels: what several people decided, each in a file of a folder."""

import pytest

from assets.kit.panel import (
    Votes,
    compute_agreement,
    count_votes,
    panel_folder,
    panel_sheet,
    write_panel_sheet,
)
from assets.kit.verdicts import read_panel
from resources.storage.data_root import DataRoot
from resources.user_files.rows import UserFileError

THINGS = [("one", {"question": "Is it?"}), ("two", {"question": "Is it, too?"})]


@pytest.fixture
def folder(tmp_path):
    return panel_folder(DataRoot(root=str(tmp_path)), "mine/pairs")


def fill(folder, name, **verdicts):
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["thing,verdict,reason", *(f"{each},{word}," for each, word in verdicts.items())]
    (folder / name).write_text("\n".join(lines), "utf-8")


def test_a_sheet_lies_in_the_folder_and_is_nobody_s(folder):
    write_panel_sheet(folder, THINGS, "thing")
    text = panel_sheet(folder).read_text()
    assert text.splitlines() == [
        "thing,verdict,reason,question",
        "one,,,Is it?",
        'two,,,"Is it, too?"',
    ]
    assert read_panel(folder, "thing") == {}
    fill(folder, "anna.csv", one="accept")
    write_panel_sheet(folder, THINGS, "thing")
    assert list(read_panel(folder, "thing")) == ["anna"]


def test_a_sheet_that_somebody_filled_in_itself_is_put_aside(folder):
    write_panel_sheet(folder, THINGS, "thing")
    fill(folder, panel_sheet(folder).name, one="reject")
    write_panel_sheet(folder, THINGS, "thing")
    (aside,) = folder.glob("*-filled-*.csv")
    assert "reject" in aside.read_text()
    assert "reject" not in panel_sheet(folder).read_text()
    assert read_panel(folder, "thing") == {}


def test_each_file_is_one_annotator_s(folder):
    fill(folder, "anna.csv", one="accept", two="reject")
    fill(folder, "ben.csv", one="reject", two="")
    (folder / "notes.txt").write_text("Nothing to read.")
    panel = read_panel(folder, "thing")
    assert count_votes(panel, "one") == Votes(["anna"], ["ben"])
    assert count_votes(panel, "two") == Votes([], ["anna"])
    assert count_votes(panel, "three") == Votes([], [])


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["anna.xlsx"], "is a spreadsheet. Save it as CSV"),
        (["anna.csv", "Anna.csv"], "have the same annotator"),
    ],
)
def test_files_that_cannot_be_followed_are_named(folder, names, why):
    for name in names:
        fill(folder, name, one="accept")
    with pytest.raises(UserFileError, match=why):
        read_panel(folder, "thing")


def test_a_verdict_is_one_of_two_words(folder):
    fill(folder, "anna.csv", one="perhaps")
    with pytest.raises(
        UserFileError,
        match=r"line 2: `verdict` is 'perhaps'\. Choose from accept, reject, or leave it empty",
    ):
        read_panel(folder, "thing")


@pytest.mark.parametrize(
    ("accepted", "rejected", "out"),
    [(0, 0, False), (4, 0, False), (3, 1, False), (2, 2, True), (0, 1, True), (1, 3, True)],
)
def test_a_thing_is_out_where_half_reject_it(accepted, rejected, out):
    assert Votes(["a"] * accepted, ["b"] * rejected).is_rejected is out


def test_agreement_is_kappa():
    """Of 50 things: 20 accepted by both, 15 rejected by both. Kappa is 0.4 (a known example)."""
    cast = [(20, ["a", "b"], []), (5, ["a"], ["b"]), (10, ["b"], ["a"]), (15, [], ["a", "b"])]
    votes = [Votes(yes, no) for number, yes, no in cast for _ in range(number)]
    (found,) = compute_agreement({(str(n), str(n)): each for n, each in enumerate(votes)})
    assert (found.first, found.second, found.images) == ("a", "b", 50)
    assert found.kappa == pytest.approx(0.4)


def test_no_agreement_of_one_annotator_or_nobody():
    assert compute_agreement({}) == []
    assert compute_agreement({("one", "one"): Votes(["a"], [])}) == []

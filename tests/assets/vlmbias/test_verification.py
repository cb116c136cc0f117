"""A label that the pixels do not show stops all that rests on it: in its run and in later ones."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from assets.vlmbias.measurements import MEASURED_COLUMNS
from resources.storage.image_store import ImageStore
from tests.runs import TOPIC, checks, failure, materialize, materialized, metadata, rewrite, table

SUDOKU = "game_boards/sudoku-add-row-first/384"
"""A 10x9 board; nothing but its lines is counted."""


def png(grey):
    file = io.BytesIO()
    Image.fromarray(np.repeat(grey[:, :, None], 3, axis=2)).save(file, "PNG")
    return file.getvalue()


def ruled(pen, pitch, rows=10, columns=9, side=384):
    """A board of black lines `pen` px wide, one every `pitch` px, on white."""
    board = np.full((rows * pitch + pen, columns * pitch + pen), 255, np.uint8)
    for line in range(pen):
        board[line::pitch] = board[:, line::pitch] = 0
    grey = np.full((side, side), 255, np.uint8)
    top, left = ((side - length) // 2 for length in board.shape)
    grey[top : top + len(board), left : left + board.shape[1]] = board
    return png(grey)


BLANK = png(np.full((384, 384), 255, np.uint8))


def show_instead(root, image_id, picture):
    """Put another picture under the name of an image, as if it had been drawn so."""
    digest = ImageStore(root=str(root)).put(picture)

    def replaced(rows):
        assert image_id in {row["image_id"] for row in rows}
        return [row | {"sha256": digest} if row["image_id"] == image_id else row for row in rows]

    rewrite(table(root, "drawn_images"), replaced)


def wrong_truth(rows):
    first, *others = rows
    return [first | {"truths": [first["truths"][0] + 1, *first["truths"][1:]]}, *others]


def what_follows(root):
    """Run everything from the measurements on."""
    answers = [f"answers_{judge}" for judge in ("prior", "pixels", "random")]
    return materialize(root, "measurements", "questions", *answers, topic=TOPIC)


def assert_nothing_is_asked(root, image_id):
    """Neither in the run that finds the fault, nor in one that skips the measuring."""
    stored = {name: table(root, name).read_bytes() for name in ("questions", "answers_prior")}
    result = what_follows(root)
    assert not result.success
    assert materialized(result) == {"measurements"}
    message = failure(materialize(root, "questions", topic=TOPIC))
    assert "Unverified" in message
    assert image_id in message
    assert "Nothing is asked about its topic" in message
    assert {name: table(root, name).read_bytes() for name in stored} == stored


def test_measuring_reads_no_label(root):
    """Labels replaced by nonsense change no reading, and no blocking check lets them pass."""
    before = table(root, "measurements").read_bytes()
    assert not {"truths", "standards", "variant", "modification", "base_id"} & set(MEASURED_COLUMNS)
    rewrite(
        table(root, "drawn_images"),
        lambda rows: [row | {"truths": [truth + 1 for truth in row["truths"]]} for row in rows],
    )
    (root / "work.sqlite").unlink()
    result = materialize(root, "measurements", topic=TOPIC)
    assert table(root, "measurements").read_bytes() == before
    assert checks(result)["labels_agree"] is False
    assert not result.success


def test_one_wrong_label_stops_what_follows(root):
    rewrite(table(root, "drawn_images"), wrong_truth)
    first = pd.read_parquet(table(root, "drawn_images"))["image_id"][0]
    result = materialize(root, "measurements", topic=TOPIC)
    assert checks(result) == {"labels_agree": False, "scenes_differ": True, "legible": True}
    assert_nothing_is_asked(root, first)


def test_one_reading_too_few_or_too_many_stops_what_follows(root):
    """A measurement lost, or one of a picture that is an image no more, is no agreement."""
    rewrite(table(root, "measurements"), lambda rows: rows[1:])
    assert "Unverified" in failure(materialize(root, "questions", topic=TOPIC))
    assert materialize(root, "measurements", topic=TOPIC).success
    rewrite(table(root, "drawn_images"), lambda rows: rows[1:])
    assert "Unverified" in failure(materialize(root, "questions", topic=TOPIC))


def test_two_scenes_with_the_same_pixels_stop_what_follows(root):
    def copy_first(rows):
        copied = {key: rows[0][key] for key in ("sha256", "targets", "truths")}
        return [rows[0], rows[1] | copied, *rows[2:]]

    rewrite(table(root, "drawn_images"), copy_first)
    first = pd.read_parquet(table(root, "drawn_images"))["image_id"][0]
    result = materialize(root, "measurements", topic=TOPIC)
    assert checks(result) == {"labels_agree": True, "scenes_differ": False, "legible": True}
    assert_nothing_is_asked(root, first)


@pytest.mark.parametrize(
    ("pen", "pitch", "narrow"),
    [(1, 30, {"mark": 1, "gap": 29}), (3, 4, {"mark": 3, "gap": 1})],
    ids=["thin lines", "narrow gaps"],
)
def test_marks_or_gaps_that_are_too_narrow_stop_what_follows(root, pen, pitch, narrow):
    """The count is still right: what is at fault is that a viewer could not be sure of it."""
    show_instead(root, SUDOKU, ruled(pen, pitch))
    result = materialize(root, "measurements", topic=TOPIC)
    assert checks(result) == {"labels_agree": True, "scenes_differ": True, "legible": False}
    rows = pd.read_parquet(table(root, "measurements")).query("image_id == @SUDOKU")
    assert rows[["mark", "gap"]].drop_duplicates().to_dict("records") == [narrow]
    assert_nothing_is_asked(root, SUDOKU)


def test_two_pixels_are_enough(root):
    show_instead(root, SUDOKU, ruled(2, 4))
    assert what_follows(root).success


def test_a_picture_that_shows_nothing_is_said_and_stops_what_follows(root):
    show_instead(root, SUDOKU, BLANK)
    result = materialize(root, "measurements", topic=TOPIC)
    assert checks(result) == {"labels_agree": False, "scenes_differ": True, "legible": False}
    assert metadata(result, "measurements")["unreadable"] > 0
    rows = pd.read_parquet(table(root, "measurements")).query("image_id == @SUDOKU")
    assert rows["measured"].isna().all()
    assert rows["problem"].str.contains("plain ground|lines").all()
    assert_nothing_is_asked(root, SUDOKU)


def test_a_wrong_truth_in_words_is_found(root):
    rewrite(
        table(root, "questions"),
        lambda rows: [rows[0] | {"ground_truth": "99"}, *rows[1:]],
    )
    result = materialize(root, "answers_pixels", topic=TOPIC)
    assert checks(result) == {
        "truths_hold": False,
        "every_row_ended": True,
        "unparsed_rate": True,
        "nothing_failed": True,
    }
    assert not result.success

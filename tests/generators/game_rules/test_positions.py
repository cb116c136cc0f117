"""Positions: balanced, and read back from pixels that were changed as a harness may change them."""

import io
from collections import Counter
from dataclasses import replace

import chess
import numpy as np
import pytest
from PIL import Image

from generators.canvas import decode_png
from generators.domains.chess_pieces.placement import count_xiangqi_sides, read_chess_placement
from generators.game_rules.positions import MIN_DIFFERENCE, POSITIONS, list_scenes
from generators.game_rules.rules import (
    PositionJob,
    find_winners,
    read_position,
    read_winners,
    write_questions,
)
from generators.reading import Unreadable
from generators.worker_jobs import DrawJob, draw_png


@pytest.fixture(scope="module")
def scenes():
    return [scene for game in POSITIONS for scene in list_scenes(game, 0)]


def draw(scene, size=384):
    return decode_png(draw_png(DrawJob(scene.domain, scene, size)))


def count_sides(fen):
    return sum(map(str.isupper, fen)), sum(map(str.islower, fen))


def test_sides_and_numbers_of_pieces_are_balanced(scenes):
    assert Counter(scene.subtopic for scene in scenes) == POSITIONS
    winners = Counter(
        (scene.subtopic, *find_winners(scene.subtopic, scene.settings["fen"]).values())
        for scene in scenes
    )
    assert winners == {
        **{
            ("chess", mating, more): 8
            for mating in ("White", "Black")
            for more in ("White", "Black")
        },
        ("xiangqi", "Red"): 8,
        ("xiangqi", "Black"): 8,
    }
    for scene in scenes:
        upper, lower = count_sides(scene.settings["fen"])
        assert abs(upper - lower) >= MIN_DIFFERENCE
    assert len({scene.settings["fen"] for scene in scenes}) == len(scenes)


def test_the_mated_king_is_attacked_and_has_no_move(scenes):
    """Checked by the legal moves of python-chess, not by its own word for mate."""
    for scene in scenes:
        if scene.subtopic == "chess":
            fen = scene.settings["fen"]
            mating = find_winners("chess", fen)["checkmate"]
            board = chess.Board(f"{fen} {'b' if mating == 'White' else 'w'} - - 0 1")
            assert board.is_check()
            assert not list(board.legal_moves)


def test_a_seed_gives_the_same_positions_and_another_seed_others(scenes):
    list_scenes.cache_clear()
    assert [*list_scenes("chess", 0), *list_scenes("xiangqi", 0)] == scenes
    assert scenes[0].settings["fen"] == "5Q2/5k2/P4P1B/5PP1/1P6/4P2B/P4N2/R3NRK1"


@pytest.mark.parametrize("number", [0, 3, 17, 31, 33, 46])
def test_every_piece_is_read_back(scenes, number):
    scene = scenes[number]
    fen, pixels = scene.settings["fen"], draw(scene)
    jpeg = io.BytesIO()
    large = draw(scene, 768)
    Image.fromarray(large).save(jpeg, "JPEG", quality=90)
    small = Image.fromarray(large).resize((int(large.shape[1] * 0.9), int(large.shape[0] * 0.9)))
    changed = [
        pixels,
        np.pad(pixels, ((7, 7), (7, 7), (0, 0)), constant_values=255),
        np.asarray(Image.open(jpeg).convert("RGB")),
        np.asarray(small),
    ]
    for picture in changed:
        assert read_winners(scene.subtopic, picture) == find_winners(scene.subtopic, fen)
        if scene.subtopic == "chess":
            board = chess.BaseBoard(fen)
            pieces = {chess.square_name(at): p.symbol() for at, p in board.piece_map().items()}
            assert read_chess_placement(picture) == pieces
        else:
            assert tuple(count_xiangqi_sides(picture).values()) == count_sides(fen)


def test_a_picture_without_mate_or_between_squares_is_unreadable(scenes):
    start = replace(scenes[0], settings={"fen": chess.STARTING_BOARD_FEN})
    png = draw_png(DrawJob("chess_pieces", start, 384))
    assert read_position(PositionJob("chess", png)) == ({}, "No side is checkmated.")
    pixels = draw(scenes[0])
    # Half a square more of the board at its left end.
    wider = np.hstack([pixels[:, :23], pixels[:, 23:24].repeat(22, axis=1), pixels[:, 23:]])
    with pytest.raises(Unreadable, match="between two squares"):
        read_chess_placement(wider)


def test_only_the_rule_changes_between_two_questions():
    usual, inverse = write_questions("xiangqi", {"pieces": "Red"})
    assert usual.question.replace("more", "fewer") == inverse.question
    assert (usual.ground_truth, inverse.ground_truth) == ("Red", "Black")
    assert usual.expected_bias == inverse.expected_bias == "Red"

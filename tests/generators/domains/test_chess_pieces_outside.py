"""Positions against FEN, characters against Unicode, and pictures against false claims."""

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import chess
import numpy as np
import pytest
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib import TTFont
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.canvas import decode_png, rasterise
from generators.domains.chess_pieces import _piece_finder as _finding
from generators.domains.chess_pieces import _reference_shapes as _art
from generators.domains.chess_pieces._games import GAMES
from generators.domains.chess_pieces.ask import parse_question, write_questions
from generators.domains.chess_pieces.draw import draw, list_scenes
from generators.domains.chess_pieces.measure import measure, measure_legibility
from generators.reading import Unreadable

SCENES = list_scenes(0)
ORIGINALS = {scene.subtopic: scene for scene in SCENES if scene.variant == "original"}
XIANGQI_START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR"
CHESS_NAMES = {
    "p": "Pawn",
    "n": "Knight",
    "b": "Bishop",
    "r": "Rook",
    "q": "Queen",
    "k": "King",
}
XIANGQI_NAMES = {
    "p": "Soldier",
    "n": "Horse",
    "b": "Elephant",
    "r": "Chariot",
    "c": "Cannon",
    "a": "Advisor",
    "k": "General",
}
CHARACTERS = {
    **dict(zip("RNBAKCP", (0x4FE5, 0x99AC, 0x76F8, 0x4ED5, 0x5E25, 0x70AE, 0x5175), strict=True)),
    **dict(zip("rnbakcp", (0x8ECA, 0x99AC, 0x8C61, 0x58EB, 0x5C07, 0x7832, 0x5352), strict=True)),
}


def svg_of(fen, game, size=384):
    return draw(replace(ORIGINALS[game], settings={"fen": fen}), size)


def shown(fen, game):
    return decode_png(rasterise(svg_of(fen, game)))


def read(picture, game):
    targets = list(ORIGINALS[game].truths)
    return dict(zip(targets, measure(picture, targets), strict=True))


def placement(picture, find, gallery, names, files, ranks):
    """The FEN that a picture shows; its outermost files and ranks must be occupied."""
    pieces, board = find(picture), _finding.find_board(picture)
    centres = np.array([[(side.start + side.stop) / 2 for side in p.box] for p in pieces])
    low, high = centres.min(axis=0), centres.max(axis=0)
    cells = (centres - low) / (high - low) * (ranks - 1, files - 1)
    letters = {name: letter for letter, name in names.items()}
    grid = np.full((ranks, files), "1")
    for piece, (rank, file) in zip(pieces, cells.round().astype(int), strict=True):
        letter = letters[gallery.recognise(piece.ink)]
        red = board[piece.box][..., 0][piece.ink > 0.5].mean()
        grid[rank, file] = letter.upper() if red > 100 else letter
    return re.sub("1+", lambda run: str(len(run[0])), "/".join("".join(row) for row in grid))


def test_the_chess_start_in_the_picture_is_that_of_python_chess():
    fen = chess.Board().board_fen()
    picture = shown(fen, "chess")
    assert ORIGINALS["chess"].settings["fen"] == fen
    assert (
        placement(picture, _finding.find_chessmen, _art.load_chess_shapes(), CHESS_NAMES, 8, 8)
        == fen
    )


def test_the_xiangqi_start_in_the_picture_is_that_of_its_fen():
    picture = shown(XIANGQI_START, "xiangqi")
    assert ORIGINALS["xiangqi"].settings["fen"] == XIANGQI_START
    assert (
        placement(picture, _finding.find_discs, _art.load_xiangqi_shapes(), XIANGQI_NAMES, 9, 10)
        == XIANGQI_START
    )


def test_types_are_called_as_unicode_calls_them():
    for letter in "pnbrqk":
        symbol = chess.Piece.from_symbol(letter).unicode_symbol()
        assert unicodedata.name(symbol) == f"BLACK CHESS {GAMES['chess'].find_type(letter)}".upper()
    named = {unicodedata.name(chr(point)).split()[-1] for point in range(0x1FA60, 0x1FA67)}
    ours = {name.upper() for name in GAMES["xiangqi"].letters}
    assert named - ours == {"MANDARIN"}
    assert ours - named == {"ADVISOR"}


def outline_of(glyph):
    """The points of a glyph, from its box's lower left corner, in units of the box's height."""
    pen = RecordingPen()
    glyph(pen)
    drawn = [(op, points) for op, points in pen.value if op not in ("closePath", "endPath")]
    points = np.array([point for _, points in drawn for point in points if point is not None])
    return (points - points.min(axis=0)) / np.ptp(points[:, 1])


def test_characters_are_the_glyphs_of_their_code_points():
    folder = Path(find_spec("matplotlib_fontja").origin).parent
    font = TTFont(folder / "fonts" / "ipaexg.ttf")
    svg = ET.fromstring(svg_of(XIANGQI_START, "xiangqi", 1152))
    for letter, point in CHARACTERS.items():
        path = svg.find(f".//*[@id='{letter}']/{{*}}path").get("d")
        glyph = font.getGlyphSet()[font.getBestCmap()[point]]
        expected = outline_of(glyph.draw)
        drawn = outline_of(lambda pen, path=path: parse_path(path, pen))
        drawn[:, 1] = 1 - drawn[:, 1]
        assert np.ptp(drawn, axis=0) == pytest.approx(np.ptp(expected, axis=0), abs=0.01), letter
        distances = np.linalg.norm(expected[:, None] - drawn, axis=2)
        assert distances.min(axis=1).max() < 0.01, letter
        assert unicodedata.name(chr(point)) == f"CJK UNIFIED IDEOGRAPH-{point:04X}"


def positions(game):
    squares = [f"{file}{rank}" for file in game.files for rank in game.ranks]
    letters = [form for own in game.letters.values() for form in (own, own.upper())]
    return st.dictionaries(
        st.sampled_from(squares), st.sampled_from(letters), min_size=1, max_size=32
    )


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_position_reads_back_by_type(game, data):
    position = data.draw(positions(game))
    found = Counter(letter.lower() for letter in position.values())
    names = XIANGQI_NAMES if game.name == "xiangqi" else CHESS_NAMES
    expected = {game.total_target: len(position)} | {
        name: found[own] for own, name in names.items()
    }
    assert game.parse_fen(game.to_fen(position)) == position
    assert read(shown(game.to_fen(position), game.name), game.name) == expected


@pytest.mark.parametrize(
    ("game", "fen"),
    [
        pytest.param("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RBBQKBNR", id="swapped type"),
        pytest.param("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R", id="missing"),
        pytest.param("chess", "rnbqkbnr/pppppppp/8/8/8/4P3/PPPPPPPP/RNBQKBNR", id="extra"),
        pytest.param("xiangqi", XIANGQI_START.replace("1C5C1", "1C5A1"), id="swapped type"),
        pytest.param("xiangqi", XIANGQI_START.replace("1C5C1", "1C7"), id="missing"),
        pytest.param("xiangqi", XIANGQI_START.replace("rnbakabnr/9", "rnbakabnr/4k4"), id="extra"),
    ],
)
def test_a_picture_that_belies_its_claim_is_caught(game, fen):
    readings = read(shown(fen, game), game)
    wrong = {
        target for target, count in ORIGINALS[game].truths.items() if readings[target] != count
    }
    changed = Counter(fen.lower())
    changed.subtract(ORIGINALS[game].settings["fen"].lower())
    letters = {letter for letter, n in changed.items() if letter.isalpha() and n}
    assert wrong - {GAMES[game].total_target} == {
        GAMES[game].find_type(letter) for letter in letters
    }


def test_the_answer_out_of_habit_is_never_what_is_read():
    for scene in SCENES[:-2:3]:
        for question in write_questions(scene):
            inquiry = parse_question(question.text)
            answer = inquiry.answer(
                measure(decode_png(rasterise(draw(scene, 384))), inquiry.targets)
            )
            assert answer == question.ground_truth != question.expected_bias


@pytest.mark.parametrize(
    ("game", "intruder"),
    [
        ("chess", '<circle cx="219" cy="219" r="14"/>'),
        ("chess", '<rect x="199" y="210" width="36" height="12" fill="#ffffff"/>'),
        ("xiangqi", '<circle cx="173" cy="192" r="15" fill="#fffdf4" stroke="#000000"/>'),
        ("xiangqi", '<rect x="160" y="180" width="24" height="24" fill="#fffdf4"/>'),
    ],
)
def test_what_is_no_piece_is_not_counted_as_one(game, intruder):
    svg = svg_of(GAMES[game].start_fen, game).replace("</svg>", f"{intruder}</svg>")
    picture = decode_png(rasterise(svg))
    with pytest.raises(Unreadable, match=r"resembles none of|not a round piece"):
        measure(picture, [GAMES[game].total_target])


@pytest.mark.parametrize(
    ("game", "target"), [("chess", "xiangqi pieces"), ("xiangqi", "chess pieces")]
)
def test_the_other_games_board_is_unreadable(game, target):
    with pytest.raises(Unreadable):
        measure(shown(GAMES[game].start_fen, game), [target])


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_a_blank_picture_is_unreadable(shade):
    blank = np.full((384, 384, 3), shade, np.uint8)
    with pytest.raises(Unreadable, match="no coloured board"):
        measure(blank, ["Knight"])
    with pytest.raises(Unreadable, match="no pieces"):
        measure_legibility(blank)


@pytest.mark.parametrize("game", GAMES)
def test_an_empty_board_holds_no_pieces(game):
    empty = GAMES[game].to_fen({})
    assert {*read(shown(empty, game), game).values()} == {0}

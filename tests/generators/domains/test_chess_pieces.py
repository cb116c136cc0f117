import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from generators.canvas import decode_png, rasterise
from generators.domains import load_domain
from generators.domains.chess_pieces._games import GAMES
from generators.domains.chess_pieces.ask import parse_question, write_questions
from generators.domains.chess_pieces.draw import list_scenes
from generators.domains.chess_pieces.measure import measure
from tests.generators.domains.samples import legibility, picture, readings

SCENES = list_scenes(0)
BY_ID = {scene.base_id: scene for scene in SCENES}
COUNTERFACTUALS = [scene for scene in SCENES if scene.variant == "counterfactual"]
ORIGINALS = {scene.subtopic: scene for scene in SCENES if scene.variant == "original"}
SAMPLE = SCENES[::7]


def pixels(scene, size=384):
    return picture(scene, size)


def asked(scene):
    return [
        question
        for question in write_questions(scene)
        if question.question_id in ("Q1", "Q2", "Q3")
    ]


def read(picture, game):
    targets = list(ORIGINALS[game].truths)
    return dict(zip(targets, measure(picture, targets), strict=True))


def test_forty_eight_counterfactuals_and_two_originals():
    assert len(COUNTERFACTUALS) == 48
    assert list(ORIGINALS) == ["chess", "xiangqi"]
    assert len(BY_ID) == 50
    for game, change in ((g, c) for g in GAMES for c in ("remove", "replace")):
        group = [s for s in COUNTERFACTUALS if (s.subtopic, s.modification) == (game, change)]
        squares = [s.settings["square"] for s in group]
        assert len({*squares}) == 12
        assert [s.base_id for s in group] == [f"chess_pieces/{game}-{s}-{change}" for s in squares]
        assert {s.original_id for s in group} == {f"chess_pieces/{game}"}
    assert all(s.original_id == s.base_id for s in ORIGINALS.values())


def test_remove_and_replace_use_the_same_squares_and_change_one_piece_each():
    for game in GAMES.values():
        start = game.parse_fen(game.start_fen)
        own = [s for s in COUNTERFACTUALS if s.subtopic == game.name]
        for removed, replaced in zip(own[:12], own[12:], strict=True):
            square = removed.settings["square"]
            assert square == replaced.settings["square"]
            bare, swapped = (game.parse_fen(s.settings["fen"]) for s in (removed, replaced))
            assert start.keys() - bare.keys() == {square}
            assert {s for s in start if start[s] != swapped[s]} == {square}
            assert start[square].isupper() == swapped[square].isupper()
            assert replaced.truths[replaced.target] == replaced.standards[replaced.target] + 1
            assert (removed.truths[removed.target], removed.standards[removed.target]) == (31, 32)


TEXTS = {
    "chess_pieces/chess-g1-remove": [
        "How many chess pieces are there on this board? "
        "Answer with a number in curly brackets, e.g., {9}.",
        "Count the chess pieces on this board. Answer with a number in curly brackets, e.g., {9}.",
        "Is this the chess starting position? Answer in curly brackets, e.g., {Yes} or {No}.",
    ],
    "chess_pieces/chess-b1-replace": [
        "How many Bishop pieces are there on this board? "
        "Answer with a number in curly brackets, e.g., {9}.",
        "Count the Bishop pieces on this board. Answer with a number in curly brackets, e.g., {9}.",
        "Is this the chess starting position? Answer in curly brackets, e.g., {Yes} or {No}.",
    ],
    "chess_pieces/xiangqi-h3-remove": [
        "How many xiangqi pieces are there on this board? "
        "Answer with a number in curly brackets, e.g., {9}.",
        "Count the xiangqi pieces on this board. "
        "Answer with a number in curly brackets, e.g., {9}.",
        "Is this the Xiangqi starting position? Answer in curly brackets, e.g., {Yes} or {No}.",
    ],
}


@pytest.mark.parametrize("base_id", TEXTS)
def test_questions_are_the_papers_letter_for_letter(base_id):
    questions = write_questions(BY_ID[base_id])
    assert [q.text for q in questions] == TEXTS[base_id]
    assert [q.question_id for q in questions] == ["Q1", "Q2", "Q3"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_originals_are_asked_each_question_of_their_counterfactuals_once(seed):
    of_seed = list_scenes(seed)
    for original in of_seed[-2:]:
        own = [s for s in of_seed[:-2] if s.original_id == original.base_id]
        texts = [q.text for q in asked(original)]
        assert len(texts) == len({*texts})
        assert {*texts} == {q.text for s in own for q in asked(s)}
        assert all(q.ground_truth == q.expected_bias for q in asked(original))


@pytest.mark.parametrize("base_id", BY_ID)
def test_understanding_a_prompt_gives_its_answer_from_what_is_true(base_id):
    scene = BY_ID[base_id]
    for question in asked(scene):
        inquiry = parse_question(f"Take your time.\n{question.text} Thank you.")
        assert inquiry is not None
        assert inquiry.answer([scene.truths[t] for t in inquiry.targets]) == question.ground_truth
        assert inquiry.answer([scene.standards[t] for t in inquiry.targets]) == (
            question.expected_bias
        )


def test_other_prompts_are_not_understood():
    assert parse_question("How many rows are there on this board?") is None


@pytest.mark.parametrize("size", [500, 768, 1152, 2048])
def test_what_is_read_does_not_depend_on_size(size):
    for scene in SAMPLE[: 8 if size < 2048 else 2]:
        assert readings(scene, size) == scene.truths


def _padded(value):
    return lambda p: np.pad(p, ((7, 7), (7, 7), (0, 0)), constant_values=value)


def _scaled(filter_):
    def scale(p):
        size = round(p.shape[1] * 0.9), round(p.shape[0] * 0.9)
        return np.asarray(Image.fromarray(p).resize(size, filter_))

    return scale


def _jpeg(p):
    buffer = io.BytesIO()
    Image.fromarray(p).save(buffer, "JPEG", quality=90)
    return np.asarray(Image.open(buffer).convert("RGB"))


@pytest.mark.parametrize("size", [384, 768])
@pytest.mark.parametrize(
    "disturb",
    [
        pytest.param(_padded(255), id="white border"),
        pytest.param(_padded(0), id="black border"),
        pytest.param(_padded(128), id="grey border"),
        pytest.param(_scaled(Image.Resampling.LANCZOS), id="lanczos"),
        pytest.param(_scaled(Image.Resampling.BICUBIC), id="bicubic"),
        pytest.param(_jpeg, id="jpeg"),
    ],
)
def test_reading_survives(disturb, size):
    for scene in SAMPLE:
        assert read(disturb(pixels(scene, size)), scene.subtopic) == scene.truths


@pytest.mark.parametrize("size", [384, 768, 1152])
@pytest.mark.parametrize("game", GAMES)
def test_pieces_are_wide_and_stand_apart(game, size):
    mark, gap = legibility(ORIGINALS[game], size)
    assert mark >= 20 * size / 384
    assert gap >= 2 * size / 384


GOLDEN = {
    "chess_pieces/chess/384": "f677e646d6914e2e",
    "chess_pieces/chess-b1-replace/768": "273410702a5ae92b",
    "chess_pieces/xiangqi/384": "4c1154c7fb55e5b2",
    "chess_pieces/xiangqi-h3-remove/1152": "7f4931c5e2a3ccd1",
}


@pytest.mark.parametrize("image_id", GOLDEN)
def test_pixels_stay_as_they_were(image_id):
    base_id, _, size = image_id.rpartition("/")
    digest = hashlib.sha256(pixels(BY_ID[base_id], int(size)).tobytes()).hexdigest()
    assert digest[:16] == GOLDEN[image_id]


def test_the_board_of_xiangqi_is_the_one_that_game_boards_shows():
    # At these two sizes both have lines 37 px apart; the river lies between the fifth and sixth.
    boards = load_domain("game_boards").draw_module
    empty = next(s for s in boards.list_scenes(0) if s.base_id == "game_boards/xiangqi")
    board = decode_png(rasterise(boards.draw(empty, 375)))
    start = pixels(BY_ID["chess_pieces/xiangqi"], 384)
    assert (start[0, 0] == board[0, 0]).all()
    river = [_river(picture, (len(picture) - 9 * 37) // 2) for picture in (start, board)]
    assert (river[0] == river[1]).all()
    assert (river[0].max(axis=2) < 64).sum() > 500


def _river(picture, edge):
    """What lies between the banks, from the first file to the last."""
    return picture[edge + 4 * 37 + 2 : edge + 5 * 37 - 1, edge + 2 : edge + 8 * 37 - 1]


def test_another_seed_chooses_other_squares_and_is_read_just_the_same():
    others = list_scenes(7)
    assert {s.base_id for s in others} != {s.base_id for s in SCENES}
    assert list_scenes(7) == others
    for scene in others[::4]:
        assert readings(scene) == scene.truths

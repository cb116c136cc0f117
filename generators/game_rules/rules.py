"""The rules that a question gives, and who has won by them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import chess

from generators.canvas import decode_png
from generators.reading import Pixels, Unreadable

Goal: TypeAlias = Literal["checkmate", "pieces"]
Rule: TypeAlias = Literal["usual", "inverse"]

SIDES = {"chess": ("White", "Black"), "xiangqi": ("Red", "Black")}
"""The sides of a game."""
RULES: tuple[Rule, ...] = ("usual", "inverse")
_RULE_TEXTS: Mapping[Goal, Mapping[Rule, str]] = {
    "checkmate": {
        "usual": "the side whose king is checkmated loses, and the other side wins",
        "inverse": "the side whose king is checkmated wins, and the other side loses",
    },
    "pieces": {
        "usual": "the side with more pieces on the board wins, and the other side loses",
        "inverse": "the side with fewer pieces on the board wins, and the other side loses",
    },
}
_NAMES = {"chess": "chess", "xiangqi": "Xiangqi (Chinese chess)"}


class RuleQuestion(NamedTuple):
    """A question about a position, its answer, and the answer by the usual rule."""

    goal: Goal
    rule: Rule
    question: str
    ground_truth: str
    expected_bias: str
    """The side that the usual rule names."""


def write_questions(game: str, winners: Mapping[Goal, str]) -> list[RuleQuestion]:
    """The questions about a position; `winners` are those by the usual rule, by goal."""
    questions = []
    for goal, winner in winners.items():
        first, second = SIDES[game]
        for rule in RULES:
            text = (
                f"The picture shows the end of a game of {_NAMES[game]}. In this game "
                f"{_RULE_TEXTS[goal][rule]}. Which side has won by this rule, {first} or {second}? "
                f"Answer with {{{first}}} or {{{second}}}, in curly brackets."
            )
            loser = second if winner == first else first
            truth = winner if rule == "usual" else loser
            questions.append(RuleQuestion(goal, rule, text, truth, winner))
    return questions


def find_winners(game: str, fen: str) -> dict[Goal, str]:
    """The winners by the usual rules: by python-chess for chess, by the letters for xiangqi."""
    first, second = SIDES[game]
    counts = {first: sum(c.isupper() for c in fen), second: sum(c.islower() for c in fen)}
    winners: dict[Goal, str] = {"pieces": max(counts, key=counts.__getitem__)}
    if game == "chess":
        winners = {"checkmate": _find_mating_side(chess.BaseBoard(fen)), **winners}
    return winners


def read_winners(game: str, pixels: Pixels) -> dict[Goal, str]:
    """The winners by the usual rules, read from a picture alone.

    Raises `Unreadable` where the picture shows no such position.
    """
    from generators.domains.chess_pieces import placement  # noqa: PLC0415 - it loads SciPy

    if game == "chess":
        board = chess.BaseBoard.empty()
        for square, letter in placement.read_chess_placement(pixels).items():
            board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(letter))
        return find_winners(game, board.board_fen())
    counts = placement.count_xiangqi_sides(pixels)
    return {"pieces": max(counts, key=counts.__getitem__)}


class PositionJob(NamedTuple):
    """A picture of a game's position, to be read in a worker."""

    game: str
    png: bytes


class PositionReading(NamedTuple):
    """The winners that a picture shows, by goal, or the problem that hid them."""

    winners: Mapping[Goal, str]
    problem: str


def read_position(job: PositionJob) -> PositionReading:
    """Read a picture as `read_winners` does."""
    try:
        return PositionReading(read_winners(job.game, decode_png(job.png)), "")
    except Unreadable as error:
        return PositionReading({}, str(error))


def _find_mating_side(placement: chess.BaseBoard) -> str:
    """The side that has mated the other one."""
    for turn in chess.COLORS:
        board = chess.Board(None)
        board.set_piece_map(placement.piece_map())
        board.turn = turn
        if board.is_checkmate():
            return SIDES["chess"][0 if turn == chess.BLACK else 1]
    raise Unreadable("No side is checkmated.")

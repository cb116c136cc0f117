"""Positions in which either side may have won, by the rule that a question gives.

Chess: games of random moves that end in checkmate. In half of them the mated side has more
pieces, in half the other one, and each colour is mated equally often: neither a colour nor the
number of pieces tells who is mated. Xiangqi: starting positions that lost pieces by chance; there
is no rule of mate for them here.
"""

import random
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

import chess

from generators.domains.chess_pieces._games import XIANGQI, Position
from generators.scene import Scene, Setting

POSITIONS = {"chess": 32, "xiangqi": 16}
"""Positions by game."""
MIN_DIFFERENCE = 2
"""The least difference between the sides' numbers of pieces."""
_MAX_PLIES = 120
_MAX_ESCAPES = 4
_PEACEFUL_SHARE = 0.6
"""Share of the moves for which a side that is to have few pieces left takes nothing."""
_XIANGQI_COUNTS = range(6, 15, MIN_DIFFERENCE)
"""Numbers of pieces that a side of xiangqi keeps."""


@cache
def list_scenes(game: str, seed: int) -> tuple[Scene, ...]:
    """The positions of a game; the seed decides the moves, or the pieces that are gone."""
    fens = _play_chess(seed) if game == "chess" else _thin_out_xiangqi(seed)
    return tuple(_build_scene(game, number, fen) for number, fen in enumerate(fens, start=1))


def _build_scene(game: str, number: int, fen: str) -> Scene:
    """The scene of a placement, as `generators.domains.chess_pieces` draws it."""
    base_id = f"game_rules/{game}-{number:02d}"
    settings: Mapping[str, Setting] = {"fen": fen}
    return Scene(
        base_id=base_id,
        original_id=base_id,
        domain="chess_pieces",
        subject=f"{game} position",
        subtopic=game,
        variant="counterfactual",
        modification="played",
        target="",
        truths={},
        standards={},
        settings=settings,
    )


def _play_chess(seed: int) -> Iterator[str]:
    """Placements in which a side is mated, in a fixed order of colours and numbers of pieces."""
    rng = random.Random(f"game_rules/chess/{seed}")
    kinds = list(product((chess.WHITE, chess.BLACK), (True, False)))
    for number in range(POSITIONS["chess"]):
        winner, has_more = kinds[number % len(kinds)]
        board = None
        while board is None or not _has_difference(board, winner, has_more=has_more):
            board = _play_game(rng, winner, has_more=has_more)
        yield board.board_fen()


def _has_difference(board: chess.Board, winner: chess.Color, *, has_more: bool) -> bool:
    counts = {color: board.occupied_co[color].bit_count() for color in chess.COLORS}
    difference = counts[winner] - counts[not winner]
    return (difference if has_more else -difference) >= MIN_DIFFERENCE


def _play_game(rng: random.Random, winner: chess.Color, *, has_more: bool) -> chess.Board | None:
    """A game of random moves in which `winner` mates wherever it can; None if it never does."""
    board = chess.Board()
    captor = winner if has_more else None
    while board.ply() < _MAX_PLIES:
        moves = list(board.legal_moves)
        if board.turn == winner and _is_cramped(board) and (mate := _find_mate(board, moves)):
            board.push(mate)
            return board
        if not moves:
            return None
        captures = [move for move in moves if board.is_capture(move)]
        if board.turn == captor:
            moves = captures or moves
        elif captor is not None or (board.turn == winner and rng.random() < _PEACEFUL_SHARE):
            moves = [move for move in moves if move not in captures] or moves
        board.push(rng.choice(moves))
    return None


def _is_cramped(board: chess.Board) -> bool:
    """True if the other king has few squares to go to: no other king is worth a look for mate."""
    king = board.king(not board.turn)
    assert king is not None
    escapes = chess.SquareSet(chess.BB_KING_ATTACKS[king] & ~board.occupied_co[not board.turn])
    free = (square for square in escapes if not board.is_attacked_by(board.turn, square))
    return sum(1 for _ in free) <= _MAX_ESCAPES


def _find_mate(board: chess.Board, moves: list[chess.Move]) -> chess.Move | None:
    visible = _find_visible_squares(board)
    for move in moves:
        squares = chess.BB_SQUARES[move.from_square] | chess.BB_SQUARES[move.to_square]
        if visible & squares and board.gives_check(move):
            board.push(move)
            is_mate = board.is_checkmate()
            board.pop()
            if is_mate:
                return move
    return None


def _find_visible_squares(board: chess.Board) -> chess.Bitboard:
    """Squares that the other king would attack as a queen or a knight: a check begins there.

    A piece checks from one of them or leaves one; the rook that castles is left out.
    """
    king = board.king(not board.turn)
    assert king is not None
    lines = (
        (chess.BB_DIAG_ATTACKS, chess.BB_DIAG_MASKS),
        (chess.BB_FILE_ATTACKS, chess.BB_FILE_MASKS),
        (chess.BB_RANK_ATTACKS, chess.BB_RANK_MASKS),
    )
    squares = chess.BB_KNIGHT_ATTACKS[king]
    for attacks, masks in lines:
        squares |= attacks[king][masks[king] & board.occupied]
    return squares


def _thin_out_xiangqi(seed: int) -> Iterator[str]:
    """Starting positions without some pieces; each side has more equally often, no general goes."""
    rng = random.Random(f"game_rules/xiangqi/{seed}")
    start = XIANGQI.parse_fen(XIANGQI.start_fen)
    for number in range(POSITIONS["xiangqi"]):
        counts = sorted(rng.sample(_XIANGQI_COUNTS, 2), reverse=number % 2 == 0)
        armies = (
            {square: letter for square, letter in start.items() if letter.isupper() == is_red}
            for is_red in (True, False)
        )
        pieces = [_keep(rng, army, count) for army, count in zip(armies, counts, strict=True)]
        remaining_pieces = pieces[0] | pieces[1]
        position = {square: start[square] for square in start if square in remaining_pieces}
        yield XIANGQI.to_fen(position)


def _keep(rng: random.Random, army: Position, count: int) -> dict[str, str]:
    """An army of `count` pieces, its general among them."""
    general = [square for square, letter in army.items() if letter in "Kk"]
    others = [square for square in army if square not in general]
    return {square: army[square] for square in general + rng.sample(others, count - 1)}

"""Count the pieces on a board, in all or of one type, from the pixels (Appendix F)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from generators.domains.chess_pieces._piece_finder import BoardPiece, find_chessmen, find_discs
from generators.domains.chess_pieces._piece_spacing import (
    measure_chessmen_spacing,
    measure_disc_spacing,
)
from generators.domains.chess_pieces._reference_shapes import (
    CHARACTERS,
    CHESSMEN,
    PieceShapes,
    load_chess_shapes,
    load_xiangqi_shapes,
)
from generators.reading import Legibility, Pixels, Unreadable

VERSION = "2"


class _GameReader(NamedTuple):
    looks: Mapping[str, str]
    find: Callable[[Pixels], list[BoardPiece]]
    gallery: Callable[[], PieceShapes]
    legibility: Callable[[Pixels, list[BoardPiece]], Legibility]


_READERS = {
    "chess pieces": _GameReader(
        looks=CHESSMEN,
        find=find_chessmen,
        gallery=load_chess_shapes,
        legibility=measure_chessmen_spacing,
    ),
    "xiangqi pieces": _GameReader(
        looks=CHARACTERS,
        find=find_discs,
        gallery=load_xiangqi_shapes,
        legibility=measure_disc_spacing,
    ),
}


def measure(pixels: Pixels, targets: Sequence[str]) -> Sequence[float]:
    """Count the pieces of each target, both colours together.

    A target is `chess pieces`, `xiangqi pieces` or the name of a type of either game. Raises
    `Unreadable` when the picture shows no board, or a piece that resembles none of the game's.
    """
    counts: dict[str, int] = {}
    for total_target, reader in _READERS.items():
        reader_targets = {total_target, *reader.looks}
        if reader_targets & set(targets):
            types = find_types(reader.find(pixels), total_target)
            counts |= dict.fromkeys(reader_targets, 0) | Counter(types) | {total_target: len(types)}
    if unknown := set(targets) - counts.keys():
        raise Unreadable(f"No game has a piece called {', '.join(sorted(unknown))}.")
    return [counts[target] for target in targets]


def measure_legibility(pixels: Pixels) -> Legibility:
    """The width of the narrowest piece, and the least distance between two.

    Pieces are what is counted; the strokes of which they are drawn may be finer. Raises
    `Unreadable` when there is no piece of either game.
    """
    for total_target, reader in _READERS.items():
        with suppress(Unreadable):
            pieces = reader.find(pixels)
            if pieces and find_types(pieces, total_target):
                return reader.legibility(pixels, pieces)
    raise Unreadable("There are no pieces of chess or xiangqi in the picture.")


def find_types(pieces: Sequence[BoardPiece], total_target: str) -> list[str]:
    """The type of each piece of a game, as in `chess pieces`.

    Raises `Unreadable` for a piece that resembles none.
    """
    reader = _READERS[total_target]
    gallery, types = reader.gallery(), list[str]()
    for piece in pieces:
        kind = gallery.recognise(piece.ink)
        if kind is None:
            down, right = (side.start for side in piece.box)
            raise Unreadable(
                f"The piece {right} px from the left and {down} px from the top of the board "
                f"resembles none of {', '.join(reader.looks)}."
            )
        types.append(kind)
    return types

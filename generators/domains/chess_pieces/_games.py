"""The two games: what their pieces are called, and where they stand at the start.

A position is a mapping from the name of an occupied square (`g1`: file, then rank counted from
the bottom) to the FEN letter of its piece, upper case for the side that stands at the bottom.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import chess

Position = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game of two armies: its files and ranks, its start in FEN, and its types of piece."""

    name: str
    spoken_name: str
    start_fen: str
    files: str
    ranks: range
    letters: Mapping[str, str]

    @property
    def total_target(self) -> str:
        """The target that counts every piece, whatever its type."""
        return f"{self.name} pieces"

    def parse_fen(self, fen: str) -> dict[str, str]:
        """The occupied squares of the placement that `fen` describes, from the top left."""
        occupied = {}
        for rank, row in zip(reversed(self.ranks), fen.split("/"), strict=True):
            cells = "".join(" " * int(c) if c.isdigit() else c for c in row)
            for file, letter in zip(self.files, cells, strict=True):
                if letter != " ":
                    occupied[f"{file}{rank}"] = letter
        return occupied

    def to_fen(self, position: Position) -> str:
        """The FEN placement of `position`."""
        rows = []
        for rank in reversed(self.ranks):
            row, empty = "", 0
            for file in self.files:
                letter = position.get(f"{file}{rank}")
                if letter is None:
                    empty += 1
                    continue
                row += (str(empty) if empty else "") + letter
                empty = 0
            rows.append(row + (str(empty) if empty else ""))
        return "/".join(rows)

    def find_type(self, letter: str) -> str:
        """The name of the type that a FEN letter of either colour stands for."""
        return next(
            type_name
            for type_name, type_letter in self.letters.items()
            if type_letter == letter.lower()
        )

    def count_pieces(self, position: Position) -> dict[str, int]:
        """Count the pieces in all, and of each type, both colours together."""
        type_counts = Counter(self.find_type(letter) for letter in position.values())
        return {self.total_target: len(position)} | {
            type_name: type_counts[type_name] for type_name in self.letters
        }


CHESS = Game(
    name="chess",
    spoken_name="chess",
    start_fen=chess.STARTING_BOARD_FEN,
    files="abcdefgh",
    ranks=range(1, 9),
    letters={
        chess.piece_name(kind).capitalize(): chess.piece_symbol(kind) for kind in chess.PIECE_TYPES
    },
)

XIANGQI = Game(
    name="xiangqi",
    spoken_name="Xiangqi",
    start_fen="rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR",
    files="abcdefghi",
    ranks=range(1, 11),
    letters={
        "Soldier": "p",
        "Horse": "n",
        "Elephant": "b",
        "Chariot": "r",
        "Cannon": "c",
        "Advisor": "a",
        "General": "k",
    },
)

GAMES = {game.name: game for game in (CHESS, XIANGQI)}

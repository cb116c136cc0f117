"""The lines of a xiangqi board and the names on its river, with any number of files and ranks.

Files are numbered 0 to 8 from the left and ranks 0 to 9 from the top, as the usual board has
them. A board that misses a line, or has one more, is given as another range of numbers:
`ranks=range(1, 10)` has lost its first rank, `files=range(10)` has gained a last file. The
river, its names, the palaces and the position marks stay with the lines that they belong to.
"""

import svgwrite

from generators.glyphs import outline_text

FILES, RANKS = range(9), range(10)
INK, GROUND = "#000000", "#f8e4b7"

_RIVER = (4, 5)
_PALACE_HEARTS = ((4, 1), (4, 8))
_CANNONS = tuple((file, rank) for rank in (2, 7) for file in (1, 7))
_SOLDIERS = tuple((file, rank) for rank in (3, 6) for file in (0, 2, 4, 6, 8))
_BANKS = (("楚", 1.75), ("河", 3), ("漢", 5), ("界", 6.25))
"""The names of the river's two banks, each character with the file on which it stands."""
_NAME = 0.58
"""The height of their characters, in distances between lines."""
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def draw_board(
    drawing: svgwrite.Drawing,
    *,
    origin_x: int,
    origin_y: int,
    pitch: int,
    line_width: int,
    files: range = FILES,
    ranks: range = RANKS,
) -> None:
    """Add the lines of a board to `drawing`, and 楚河 漢界 where both banks are present.

    `origin_x` and `origin_y` are the middle of the first file and of the first rank, `pitch` the
    distance between neighbouring lines, all in whole px; with an even `line_width` every edge
    but the palace diagonals' falls on a whole pixel.
    """

    def to_point(file: float, rank: float) -> str:
        x, y = (file - files.start) * pitch, (rank - ranks.start) * pitch
        return f"{origin_x + x:g} {origin_y + y:g}"

    first_file, last_file, first_rank, last_rank = files[0], files[-1], ranks[0], ranks[-1]
    lines = [f"M{to_point(first_file, rank)}L{to_point(last_file, rank)}" for rank in ranks]
    for file in files:
        shores = [] if file in (first_file, last_file) or not _has_river(ranks) else _RIVER
        stops = [first_rank, *shores, last_rank]
        lines += [
            f"M{to_point(file, begin)}L{to_point(file, end)}"
            for begin, end in zip(stops[::2], stops[1::2], strict=True)
        ]
    diagonals = [
        f"M{to_point(file, rank)}L{to_point(file + right, rank + down)}"
        for file, rank in _PALACE_HEARTS
        for right, down in _CORNERS
        if {file, file + right} <= {*files} and {rank, rank + down} <= {*ranks}
    ]
    away = max(2 * line_width + 1, round(pitch * 0.13)) / pitch
    beyond = away + max(2 * line_width + 2, round(pitch * 0.16)) / pitch
    marks = [
        f"M{to_point(file + right * beyond, rank + down * away)}"
        f"L{to_point(file + right * away, rank + down * away)}"
        f"L{to_point(file + right * away, rank + down * beyond)}"
        for file, rank in _CANNONS + _SOLDIERS
        for right, down in _CORNERS
        if {file, file + right} <= {*files} and {rank, rank + down} <= {*ranks}
    ]
    pen = {"fill": "none", "stroke": INK, "stroke_width": line_width}
    drawing.add(drawing.path("".join(lines), stroke_linecap="square", **pen))
    drawing.add(drawing.path("".join(diagonals + marks), **pen))
    names = [
        outline_text(
            name,
            x=origin_x + (file - files.start) * pitch,
            y=origin_y + (sum(_RIVER) / 2 - ranks.start) * pitch,
            height=_NAME * pitch,
        )
        for name, file in _BANKS
        if _has_river(ranks) and first_file < file - _NAME / 2 < file + _NAME / 2 < last_file
    ]
    if names:
        drawing.add(drawing.path("".join(names), fill=INK))


def _has_river(ranks: range) -> bool:
    return {*_RIVER} <= {*ranks}

"""Draw starting positions that lack one piece, or have one of another type (Appendix F)."""

import random
import re
from collections.abc import Iterator, Mapping

import chess
import chess.svg

from generators import xiangqi
from generators.canvas import create_canvas
from generators.domains.chess_pieces._games import CHESS, GAMES, XIANGQI, Game, Position
from generators.glyphs import outline_text
from generators.scene import ImageSet, Scene, Setting, Variant

VERSION = "2"
MIN_SIZE = 384

SQUARES_A_BOARD = 12

CHESS_MARGIN = 0.42
"""The distance from the squares to the image's edge, in squares; it holds the coordinates."""
_CHESS_COLORS = {
    "margin": "#ffffff",
    "outer border": "#ffffff",
    "inner border": "#4a3b2f",
    "coord": "#4a3b2f",
}
_CHESS_OFFSET = 17
"""The px from the corner of python-chess's picture to its first square: borders and margin."""

_DESCRIPTION = re.compile("<desc>.*?</desc>", re.DOTALL)
_VIEW_BOX = re.compile('viewBox="[^"]*"')

XIANGQI_MARGIN = 0.64
"""The distance from the outer lines to the image's edge, in distances between lines."""
_IVORY = "#fffdf4"
_RED, _BLACK = "#b80000", "#000000"
_CHARACTERS = {
    **dict(zip("RNBAKCP", "俥馬相仕帥炮兵", strict=True)),
    **dict(zip("rnbakcp", "車馬象士將砲卒", strict=True)),
}


def list_scenes(seed: int) -> list[Scene]:
    """The 48 counterfactuals, then the 2 start positions.

    By `seed`: 12 occupied squares a board, and for each the type that takes the place of its
    own. The types are dealt round as evenly as they go, so that each of them is asked about.
    """
    counterfactuals = [
        scene for game in GAMES.values() for scene in _build_counterfactuals(game, seed)
    ]
    originals = [
        _build_scene(game, game.parse_fen(game.start_fen), target=game.total_target)
        for game in GAMES.values()
    ]
    return counterfactuals + originals


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's board, its longer side `size` px."""
    fen = str(scene.settings["fen"])
    return _draw_chess(fen, size) if scene.subtopic == CHESS.name else _draw_xiangqi(fen, size)


def _build_counterfactuals(game: Game, seed: int) -> Iterator[Scene]:
    start = game.parse_fen(game.start_fen)
    added_types = _choose_replacements(
        game, start, random.Random(f"chess_pieces/{seed}/{game.name}")
    )
    for square in added_types:
        position = {s: letter for s, letter in start.items() if s != square}
        removed = {"square": square, "removed": game.find_type(start[square])}
        yield _build_scene(
            game, position, target=game.total_target, change="remove", settings=removed
        )
    for square, kind in added_types.items():
        letter = game.letters[kind]
        position = start | {square: letter.upper() if start[square].isupper() else letter}
        replaced = {"square": square, "removed": game.find_type(start[square]), "added": kind}
        yield _build_scene(game, position, target=kind, change="replace", settings=replaced)


def _choose_replacements(game: Game, start: Position, rng: random.Random) -> dict[str, str]:
    """The chosen squares, each with the type that is to replace the one it holds."""
    kinds = list(game.letters)
    while True:
        squares = rng.sample(list(start), SQUARES_A_BOARD)
        full_rounds, rest = divmod(SQUARES_A_BOARD, len(kinds))
        dealt = kinds * full_rounds + rng.sample(kinds, rest)
        rng.shuffle(dealt)
        added_types = dict(zip(squares, dealt, strict=True))
        if all(game.find_type(start[square]) != kind for square, kind in added_types.items()):
            return added_types


def _build_scene(
    game: Game,
    position: Position,
    *,
    target: str,
    change: str = "none",
    settings: Mapping[str, Setting] | None = None,
) -> Scene:
    original_id = f"chess_pieces/{game.name}"
    settings = settings or {}
    variant: Variant = "counterfactual" if settings else "original"
    image_set: ImageSet = "benchmark" if settings else "originals"
    return Scene(
        base_id=f"{original_id}-{settings['square']}-{change}" if settings else original_id,
        original_id=original_id,
        domain="chess_pieces",
        subject=f"{game.spoken_name} starting position",
        subtopic=game.name,
        variant=variant,
        modification=change,
        target=target,
        truths=game.count_pieces(position),
        standards=game.count_pieces(game.parse_fen(game.start_fen)),
        settings={"fen": game.to_fen(position), **settings},
        image_set=image_set,
    )


def _draw_chess(fen: str, size: int) -> str:
    """The picture of python-chess, scaled so that the edges of squares fall on whole pixels."""
    cell = int(size / (8 + 2 * CHESS_MARGIN))
    unit = chess.svg.SQUARE_SIZE / cell
    corner = _CHESS_OFFSET - (size - 8 * cell) // 2 * unit
    side = size * unit
    board = chess.BaseBoard(fen)
    picture = chess.svg.board(board, size=size, borders=True, colors=_CHESS_COLORS)
    paper = f'<rect x="{corner:g}" y="{corner:g}" width="{side:g}" height="{side:g}" fill="#fff"/>'
    picture = _DESCRIPTION.sub(paper, picture, count=1)
    view_box = f'viewBox="{corner:g} {corner:g} {side:g} {side:g}"'
    return _VIEW_BOX.sub(view_box, picture, count=1)


def _draw_xiangqi(fen: str, size: int) -> str:
    """Round pieces of ivory on the crossings of the board that `game_boards` shows empty."""
    pitch = int(size / (9 + 2 * XIANGQI_MARGIN))
    edge = (size - 9 * pitch) // 2
    ring, bold = round(pitch * 0.05, 2), round(pitch * 0.014, 2)
    radius = round(pitch * 0.465 - ring / 2, 2)
    drawing = create_canvas(8 * pitch + 2 * edge, size, background=xiangqi.GROUND)
    line_width = 2 * max(1, round(pitch / 60))
    xiangqi.draw_board(drawing, origin_x=edge, origin_y=edge, pitch=pitch, line_width=line_width)
    position = XIANGQI.parse_fen(fen)
    for letter in sorted(set(position.values())):
        ink = _RED if letter.isupper() else _BLACK
        piece = drawing.g(id=letter)
        piece.add(drawing.circle(r=radius, fill=_IVORY, stroke=ink, stroke_width=ring))
        character = outline_text(_CHARACTERS[letter], x=0, y=0, height=pitch * 0.52)
        piece.add(drawing.path(character, fill=ink, stroke=ink, stroke_width=bold))
        drawing.defs.add(piece)
    for square, letter in position.items():
        file, rank = XIANGQI.files.index(square[0]), int(square[1:])
        centre = edge + file * pitch, edge + (10 - rank) * pitch
        drawing.add(drawing.use(f"#{letter}", insert=centre))
    return str(drawing.tostring())

"""Draw the pieces of a position alone, each in its place."""

from generators.domains.chess_pieces import draw as board_drawing
from generators.isolation import isolate_scenes, keep_parts
from generators.scene import Scene

VERSION = "1"
MIN_SIZE = board_drawing.MIN_SIZE


def list_scenes(seed: int) -> list[Scene]:
    """The scenes of the benchmark."""
    return isolate_scenes(board_drawing.list_scenes(seed))


def draw(scene: Scene, size: int) -> str:
    """The SVG of the scene's pieces, as large as that of its board."""
    return keep_parts(board_drawing.draw(scene, size), lambda tag, part: tag == "use")

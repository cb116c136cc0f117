"""The square or crossing whose piece is gone, or another one."""

from generators.domains.chess_pieces._games import CHESS, XIANGQI
from generators.domains.chess_pieces.draw import CHESS_MARGIN, XIANGQI_MARGIN
from generators.scene import Scene

Box = tuple[float, float, float, float]


def find_outline(scene: Scene, size: int) -> list[Box]:
    """The one square, in parts of the picture."""
    square = str(scene.settings["square"])
    rank = int(square[1:])
    if scene.subtopic == CHESS.name:
        cell = int(size / (8 + 2 * CHESS_MARGIN))
        edge, column = (size - 8 * cell) // 2, "abcdefgh".index(square[0])
        cell_x, cell_y = edge + column * cell, edge + (8 - rank) * cell
        return [(cell_x / size, cell_y / size, cell / size, cell / size)]
    pitch = int(size / (9 + 2 * XIANGQI_MARGIN))
    edge = (size - 9 * pitch) // 2
    width, file = 8 * pitch + 2 * edge, XIANGQI.files.index(square[0])
    x, y = edge + (file - 0.5) * pitch, edge + (9.5 - rank) * pitch
    return [(x / width, y / size, pitch / width, pitch / size)]

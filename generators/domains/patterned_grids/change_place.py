"""The cell of a scene's change, which the seed chooses."""

from generators.scene import Scene
from generators.scene_pairs import ChangePlace


def locate_change(scene: Scene) -> ChangePlace:
    """The odd cell; dice and tallies of one size share it."""
    settings = scene.settings
    cells, design = settings["cells"], f"{settings['grid']}, {scene.modification}"
    return ChangePlace(board=f"{cells}×{cells}", place=str(settings["cell"]), design=design)

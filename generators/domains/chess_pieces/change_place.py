"""The square of a scene's change, which the seed chooses."""

from generators.scene import Scene
from generators.scene_pairs import ChangePlace


def locate_change(scene: Scene) -> ChangePlace:
    """The square of the removed or replaced piece, and what is counted."""
    square = str(scene.settings["square"])
    design = f"{scene.modification}, {scene.target}"
    return ChangePlace(board=scene.subtopic, place=square, design=design)

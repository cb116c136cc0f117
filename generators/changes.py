"""What was changed in a counterfactual, in words for readers of a report."""

from collections.abc import Mapping
from typing import NamedTuple

from generators.scene import Setting


class SceneChange(NamedTuple):
    """A counterfactual's change: its row's `modification`, `target` and `settings`.

    `difference` is what the picture shows of the target less what is usual.
    """

    modification: str
    target: str
    difference: float
    settings: Mapping[str, Setting]


def describe_difference(change: SceneChange) -> str:
    """A change of a count: `one star more`.

    >>> describe_difference(SceneChange("remove", "stripes", -1, {}))
    'one stripe fewer'
    >>> describe_difference(SceneChange("add", "circles", 2, {}))
    '2 circles more'
    >>> describe_difference(SceneChange("add", "points on the star", 1, {}))
    'one point more on the star'
    """
    direction = "more" if change.difference > 0 else "fewer"
    parts, *place = change.target.split(" on ")
    if abs(change.difference) == 1:
        return " on ".join([f"one {parts.removesuffix('s')} {direction}", *place])
    return " on ".join([f"{abs(change.difference):g} {parts} {direction}", *place])

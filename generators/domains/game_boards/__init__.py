"""Game boards that have lost or gained a row or a column (VLMBias, Appendix G)."""

from generators.changes import SceneChange

TITLE = "Game boards"
_SIDES = {
    ("row", "first"): "at the top",
    ("row", "last"): "at the bottom",
    ("column", "first"): "on the left",
    ("column", "last"): "on the right",
}


def describe_change(change: SceneChange) -> str:
    """The line and its side: `one row fewer at the top`."""
    action, line, end = change.modification.split()
    return f"one {line} {'more' if action == 'add' else 'fewer'} {_SIDES[line, end]}"

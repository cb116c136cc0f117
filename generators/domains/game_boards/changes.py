"""What was changed in a counterfactual, in words: the line and its side."""

from generators.changes import SceneChange

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

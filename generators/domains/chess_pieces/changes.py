"""What was changed in a counterfactual, in words: the square and its piece."""

from generators.changes import SceneChange


def describe_change(change: SceneChange) -> str:
    """The square and its piece: `no pawn on f2`, `queen on f2 in place of the pawn`."""
    square, removed = change.settings["square"], str(change.settings["removed"]).lower()
    if change.modification == "remove":
        return f"no {removed} on {square}"
    added = str(change.settings["added"]).lower()
    return f"{added} on {square} in place of the {removed}"

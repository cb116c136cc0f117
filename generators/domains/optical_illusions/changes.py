"""What was changed in a counterfactual, in words: how the difference stands to the illusion."""

from generators.changes import SceneChange


def describe_change(change: SceneChange) -> str:
    """Whether the real difference is the one that the illusion suggests."""
    if change.modification == "congruent":
        return "parts differ, as the illusion suggests"
    return "parts differ, against the illusion"

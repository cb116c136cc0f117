"""What was changed in a counterfactual, in words: the mark and its cell."""

from generators.changes import SceneChange


def describe_change(change: SceneChange) -> str:
    """The mark and its cell: `one line more in D3`, `star in place of a circle in D3`."""
    mark, cell = change.target.partition("s in ")[0], change.settings["cell"]
    if change.modification == "replace":
        return f"{change.settings['shape']} in place of a {mark} in {cell}"
    return f"one {mark} {'more' if change.modification == 'add' else 'fewer'} in {cell}"

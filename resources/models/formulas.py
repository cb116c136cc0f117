"""How a metric scores: its `formula`, and what else may stand beside that, for each its reason."""

from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

from generators.nearest import nearest

Formula = Literal["clip_score", "pick_score", "vqa_score", "vision_score"]
"""What the backend transformers computes: see `resources.models.backends.scoring`."""

_FORMULAS: tuple[Formula, ...] = get_args(Formula)
_RUNNING = ("formula", "batch", "device", "dtype", "revision")
_TAKEN: Mapping[Formula, tuple[str, ...]] = {
    "clip_score": (*_RUNNING, "prefix", "processor"),
    "pick_score": (*_RUNNING, "processor"),
    "vqa_score": _RUNNING,
}
_SAMPLING = ("do_sample", "temperature", "top_k", "top_p", "num_beams")


def unscored(roles: Collection[str] | None, parameters: Mapping[str, Any]) -> str | None:
    """Why parameters make no metric, or should not, with the remedy; None where all is right.

    Roles are None where they are wrong themselves, which is said elsewhere.
    """
    formula = parameters.get("formula")
    if roles is None:
        return None
    if "metric" not in roles:
        if formula is None:
            return None
        return "has `formula`, by which metrics score: remove it, or write `roles: [metric]`"
    if formula is None:
        return (
            "has no `formula`, by which a metric scores: add one, as in {formula: clip_score}. "
            f"There is {', '.join(_FORMULAS)}"
        )
    if formula not in _FORMULAS:
        return f"has the `formula` {formula!r}{nearest(str(formula), _FORMULAS)}"
    if formula == "vision_score":
        wrong = [name for name in _SAMPLING if name in parameters]
        why = "decodes greedily, so that a picture always scores the same"
    else:
        wrong = [name for name in parameters if name not in _TAKEN[formula]]
        why = f"takes {', '.join(_TAKEN[formula])}"
    return f"has `{wrong[0]}`: remove it, {formula} {why}" if wrong else None

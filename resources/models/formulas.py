"""Formulas of metrics, and the other parameters that each takes."""

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

from generators.name_suggestions import suggest_names

Formula = Literal[
    "clip_score",
    "pick_score",
    "siglip_score",
    "itm_score",
    "vqa_score",
    "vision_score",
    "expected_score",
]
"""Formulas of the backend transformers: see `resources.models.backends.scoring`."""

_FORMULAS: tuple[Formula, ...] = get_args(Formula)
_RUNNING = ("formula", "batch", "device", "dtype", "revision", "attention")
_TAKEN: Mapping[Formula, tuple[str, ...]] = {
    "clip_score": (*_RUNNING, "prefix", "processor"),
    "pick_score": (*_RUNNING, "processor"),
    "siglip_score": (*_RUNNING, "prefix", "processor"),
    "itm_score": (*_RUNNING, "processor"),
    "vqa_score": (*_RUNNING, "adapter"),
    "expected_score": (*_RUNNING, "adapter"),
}
_SAMPLING = ("do_sample", "temperature", "top_k", "top_p", "num_beams")


OWN_BACKENDS = frozenset({"python", "file"})
"""The backends of metrics of the user's own."""


def read_scale(parameters: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest score of a metric of the user's own."""
    low, high = parameters.get("scale", (0.0, 1.0))
    return float(low), float(high)


def find_formula_problem(
    backend: str | None, roles: Collection[str] | None, parameters: Mapping[str, Any]
) -> str | None:
    """Say why parameters make no metric, with the remedy; None where all is right.

    Backend and roles are None where they are wrong themselves, which is said elsewhere.
    """
    if roles is None:
        return None
    if backend in OWN_BACKENDS:
        return _explain_unfit_own(backend == "python", parameters)
    return _explain_unfit_formula(roles, parameters)


def _explain_unfit_formula(roles: Collection[str], parameters: Mapping[str, Any]) -> str | None:
    formula = parameters.get("formula")
    if "metric" not in roles:
        if formula is None:
            return None
        return "has `formula`, by which metrics score: remove it, or write `roles: [metric]`"
    if formula is None:
        return (
            "has no `formula`, by which a metric scores: add one, as in {formula: clip_score}. "
            f"Choose from {', '.join(_FORMULAS)}"
        )
    if formula not in _FORMULAS:
        return f"has the `formula` {formula!r}{suggest_names(str(formula), _FORMULAS)}"
    if formula == "vision_score":
        wrong = [name for name in _SAMPLING if name in parameters]
        why = "decodes greedily, so that a picture always scores the same"
    else:
        wrong = [name for name in parameters if name not in _TAKEN[formula]]
        why = f"takes {', '.join(_TAKEN[formula])}"
    return f"has `{wrong[0]}`: remove it, {formula} {why}" if wrong else None


def _explain_unfit_own(called: bool, parameters: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the parameters of a metric of the user's own, if anything."""
    allowed_names = ("scale", "version") if called else ("scale",)
    for name in parameters:
        if name not in allowed_names:
            return f"has `{name}`: remove it, a metric of your own takes {', '.join(allowed_names)}"
    if called and not isinstance(parameters.get("version"), str | int):
        return (
            "has no `version`, by which answers of your function are told from those of another "
            'version: add one, as in {version: "1"}, and change it with the function'
        )
    scale = parameters.get("scale", (0, 1))
    if not (
        isinstance(scale, list | tuple)
        and len(scale) == 2
        and all(type(end) in (int, float) and math.isfinite(end) for end in scale)
        and scale[0] < scale[1]
    ):
        return f"has the `scale` {scale!r}: write the least and the greatest score, as in [0, 100]"
    return None

"""Biases: the perturbations that FRAME tries, alone or combined, and the pictures made by them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from assets.kit.forecast import PENDING
from assets.kit.perturbed_pictures import (
    PerturbationRequest,
    PerturbationRequests,
    PerturbedPicture,
)
from assets.kit.step_run import Row
from generators.perturbations.grids import GRID, list_biases
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import build_perturbation, to_json
from generators.perturbations.subject import ObjectBox, Subject

DONE = "biased"
"""Outcomes of a row that has a biased picture."""
NONE = "none"
"""The bias of an original picture."""
JOINED = "+"
"""Separator between the names of a combination's biases."""
Configurations: TypeAlias = Literal["grid", "single"]

SINGLE: Mapping[str, Perturbation] = {
    "brightness": build_perturbation("brightness", factor=1.3),
    "gamma": build_perturbation("gamma", gamma=1.3),
    "authenticity": build_perturbation("authenticity", position="bottom-right"),
    "keyword": build_perturbation("keyword", position="bottom-right"),
    "instruction": build_perturbation("instruction", position="bottom-right"),
    "padding": build_perturbation("padding", thickness=50),
    "beauty": build_perturbation("beauty"),
    "boxes": build_perturbation("boxes"),
}
"""A configuration of each bias: the best one for most models and domains in Table 9."""

SHAMS: Mapping[str, Perturbation] = {
    "jpeg": build_perturbation("jpeg", quality=95),
    "grey_level": build_perturbation("grey_level"),
}
"""Biases in name alone: changes that nobody sees. No mean, search or ranking of biases has them."""
SECOND_REQUEST = "second_request"
CONTROLS = (*SHAMS, SECOND_REQUEST)
"""Requests that show how far a score moves when nothing that a person sees has changed."""


def format_bias_name(perturbations: Iterable[Perturbation]) -> str:
    """The name of a bias, or of a combination, as in instruction+padding; none for an original."""
    return JOINED.join(perturbation.name for perturbation in perturbations) or NONE


def list_configurations(
    domain: str, biases: Sequence[str], which: Configurations
) -> list[tuple[Perturbation, ...]]:
    """List the configurations to try for a domain's biases in `biases`, or for all if it is empty.

    It is every configuration of the paper's grid (App. B.3), or the `SINGLE` one.
    """
    chosen_biases = [bias for bias in list_biases(domain) if not biases or bias in biases]
    return [
        (perturbation,)
        for bias in chosen_biases
        for perturbation in (GRID[bias] if which == "grid" else (SINGLE[bias],))
    ]


def build_biased_row(image: Row, perturbations: Sequence[Perturbation]) -> dict[str, Any]:
    """Build a biased picture's row before it is made: its bias and its sources.

    `image` is a row of `frame/images` with its `boxes` as JSON, None where it has none, and then
    `boxes_reason`; in a plan, `boxes_pending` says that they are still to be found.
    """
    names = {perturbation.name for perturbation in perturbations}
    is_pending = image["outcome"] == PENDING or ("boxes" in names and image.get("boxes_pending"))
    row = {
        **image,
        "bias": format_bias_name(perturbations),
        "parameters": to_json(perturbations),
        "original": None if is_pending else image["sha256"],
        "outcome": PENDING if is_pending else None,
        "reason": None,
    }
    lacks = _explain_inapplicable(names, image)
    if lacks is not None and not is_pending:
        return row | PerturbedPicture(
            sha256=None, width=None, height=None, reason=lacks
        ).to_columns(DONE)
    if not perturbations:
        return row | ({} if is_pending else {"outcome": "original"})
    return row | {"sha256": None, "width": None, "height": None}


def to_perturbation_requests(rows: Sequence[Row]) -> PerturbationRequests:
    """Build the requests of biased rows, as `assets.kit.perturbed_pictures` takes them."""
    return {
        place: PerturbationRequest(row["original"], row["parameters"], _build_subject(row))
        for place, row in enumerate(rows)
        if row["bias"] != NONE and row["original"] and row["outcome"] != "inapplicable"
    }


def _build_subject(row: Row) -> Subject:
    """Build the subject of a row's picture with only the facts that its biases need."""
    needed = set(row["bias"].split(JOINED))
    boxes = json.loads(row["boxes"] or "[]") if "boxes" in needed else []
    return Subject(
        keyword=(row["keyword"] or "") if "keyword" in needed else "",
        instruction=(row["instruction"] or "") if "instruction" in needed else "",
        boxes=tuple(ObjectBox(**box) for box in boxes),
    )


def _explain_inapplicable(biases: set[str], image: Row) -> str | None:
    """Return the reason why a picture cannot have these biases; None where it can."""
    if "keyword" in biases and not image["keyword"]:
        return "Nothing says what object it shows: there is no keyword to write."
    if "boxes" in biases and image["boxes"] in (None, "[]"):
        return image["boxes_reason"] or "There are no boxes of it: see frame/boxes."
    return None

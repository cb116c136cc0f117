"""Biases: the perturbations that FRAME tries, alone or combined, and the pictures made by them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from assets.kit.pictures import damaged
from assets.kit.step import PENDING, Row
from generators.perturbations.grids import GRID, biases_of
from generators.perturbations.perturb import Perturbing, perturb_png
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import code_of, from_json, perturbation, to_json
from generators.perturbations.subject import Box, Inapplicable, Subject
from resources.images import ImageStore
from resources.ledger import WorkLedger, work_key
from resources.png_check import png_size
from resources.workers import spread

NONE = "none"
"""The bias of an original picture."""
JOINED = "+"
"""What stands between the names of a combination's biases."""
Configurations: TypeAlias = Literal["grid", "single"]
_AT_ONCE = 50

SINGLE: Mapping[str, Perturbation] = {
    "brightness": perturbation("brightness", factor=1.3),
    "gamma": perturbation("gamma", gamma=1.3),
    "authenticity": perturbation("authenticity", position="bottom-right"),
    "keyword": perturbation("keyword", position="bottom-right"),
    "instruction": perturbation("instruction", position="bottom-right"),
    "padding": perturbation("padding", thickness=50),
    "beauty": perturbation("beauty"),
    "boxes": perturbation("boxes"),
}
"""One configuration of each bias: that which is the best of most models and domains in Table 9."""


class Made(NamedTuple):
    """A biased picture, or why there is none."""

    sha256: str | None
    width: int | None
    height: int | None
    reason: str | None = None


def name_of(perturbations: Iterable[Perturbation]) -> str:
    """The name of a bias, or of a combination, as in instruction+padding; none for an original."""
    return JOINED.join(each.name for each in perturbations) or NONE


def configurations(
    domain: str, biases: Sequence[str], which: Configurations
) -> list[tuple[Perturbation, ...]]:
    """What is tried of each bias of a domain that is among `biases`; of all where there are none.

    It is every configuration of the paper's grid (App. B.3), or the `SINGLE` one.
    """
    wanted = [bias for bias in biases_of(domain) if not biases or bias in biases]
    return [
        (each,) for bias in wanted for each in (GRID[bias] if which == "grid" else (SINGLE[bias],))
    ]


def biased_row(image: Row, perturbations: Sequence[Perturbation]) -> dict[str, Any]:
    """What is known of a biased picture before it is made: its bias, and what it is made of.

    `image` is a row of `frame/images` with its `boxes` as JSON, None where it has none, and then
    `boxes_reason`; in a plan, `boxes_pending` says that they are still to be found.
    """
    names = {each.name for each in perturbations}
    is_pending = image["outcome"] == PENDING or ("boxes" in names and image.get("boxes_pending"))
    row = {
        **image,
        "bias": name_of(perturbations),
        "parameters": to_json(perturbations),
        "original": None if is_pending else image["sha256"],
        "outcome": PENDING if is_pending else None,
        "reason": None,
    }
    lacks = _lacking(names, image)
    if lacks is not None and not is_pending:
        return row | _columns(Made(None, None, None, lacks))
    if not perturbations:
        return row | ({} if is_pending else {"outcome": "original"})
    return row | {"sha256": None, "width": None, "height": None}


def known_pictures(
    rows: Sequence[dict[str, Any]], images: ImageStore, ledger: WorkLedger
) -> list[dict[str, Any]]:
    """The rows with the pictures that were made before; those of others are pending."""
    keys = _keys(rows)
    made = {key: Made(*found) for key, found in ledger.known(keys.values()).items()}
    lost = images.lost([each.sha256 for each in made.values() if each.sha256])
    return [
        row | _columns(made[keys[place]])
        if place in keys and keys[place] in made and made[keys[place]].sha256 not in lost
        else row | ({"outcome": PENDING} if place in keys else {})
        for place, row in enumerate(rows)
    ]


def make_pictures(
    rows: Sequence[dict[str, Any]], images: ImageStore, ledger: WorkLedger
) -> tuple[list[dict[str, Any]], int]:
    """The rows of `known_pictures` with every picture that can be made; how many were made now.

    A known picture that is missing or damaged is made again.
    """
    lost = damaged({row["sha256"] for row in rows if row["outcome"] == "biased"}, images)
    keys = {
        place: key
        for place, key in _keys(rows).items()
        if rows[place]["outcome"] == PENDING or rows[place]["sha256"] in lost
    }
    todo = iter({key: place for place, key in keys.items()}.items())
    done: dict[str, Made] = {}
    while some := list(islice(todo, _AT_ONCE)):
        made = dict(zip((key for key, _ in some), _made(rows, some, images), strict=True))
        ledger.record({key: list(found) for key, found in made.items()})
        done |= made
    found = [
        row | _columns(done[keys[place]]) if place in keys else row
        for place, row in enumerate(rows)
    ]
    return found, len(done)


def _made(rows: Sequence[Row], some: Sequence[tuple[str, int]], images: ImageStore) -> list[Made]:
    work = [_perturbing(rows[at], images.get(rows[at]["original"])) for _, at in some]
    return [
        Made(None, None, None, found)
        if isinstance(found, str)
        else Made(images.put(found), *png_size(found))
        for found in spread(_perturbed, work)
    ]


def _perturbed(perturbing: Perturbing) -> bytes | str:
    """The PNG, or why there is none."""
    try:
        return perturb_png(perturbing)
    except Inapplicable as why:
        return str(why)


def _perturbing(row: Row, picture: bytes) -> Perturbing:
    return Perturbing(picture, from_json(row["parameters"]), _subject(row))


def _subject(row: Row) -> Subject:
    """What the biases of a row need to know of its picture, and nothing else."""
    needed = set(row["bias"].split(JOINED))
    boxes = json.loads(row["boxes"] or "[]") if "boxes" in needed else []
    return Subject(
        keyword=(row["keyword"] or "") if "keyword" in needed else "",
        instruction=(row["instruction"] or "") if "instruction" in needed else "",
        boxes=tuple(Box(**each) for each in boxes),
    )


def _keys(rows: Sequence[Row]) -> dict[int, str]:
    """By place: the key of the work, of those whose picture there is to make."""
    codes = {
        parameters: code_of(from_json(parameters))
        for parameters in {row["parameters"] for row in rows}
    }
    return {
        place: work_key(
            "perturb", codes[row["parameters"]], row["original"], row["parameters"], _said(row)
        )
        for place, row in enumerate(rows)
        if row["bias"] != NONE and row["original"] and row["outcome"] != "inapplicable"
    }


def _said(row: Row) -> list[Any]:
    subject = _subject(row)
    boxes = [[b.left, b.top, b.width, b.height, b.label] for b in subject.boxes]
    return [subject.keyword, subject.instruction, boxes]


def _columns(made: Made) -> dict[str, Any]:
    outcome = "inapplicable" if made.sha256 is None else "biased"
    return {**made._asdict(), "outcome": outcome}


def _lacking(biases: set[str], image: Row) -> str | None:
    """Why a picture cannot have these biases; None where it can."""
    if "keyword" in biases and not image["keyword"]:
        return "Nothing says what object it shows: there is no keyword to write."
    if "boxes" in biases and image["boxes"] in (None, "[]"):
        return image["boxes_reason"] or "There are no boxes of it: see frame/boxes."
    return None

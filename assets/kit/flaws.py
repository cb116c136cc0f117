"""Flaws of painted pictures: blank, of a wrong size, or repeated.

A picture is opened once, by `inspect_pictures`; a size is wrong by what its painter's entry in
models.yaml asks for.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from assets.kit.pictures import compute_missing
from assets.kit.step_run import Row
from generators.picture_inspection import (
    Inspection,
    PicturePair,
    inspect_picture,
    is_unchanged,
    measure_white_border,
)
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

_VERSION = 2
_MIN_SIZE_SHARE = 0.9
"""Least share of 1,024 px that the longer side of a 1K picture has (Gemini)."""


def inspect_pictures(
    images: ImageStore, work_cache: WorkCache, digests: Iterable[str]
) -> dict[str, Inspection]:
    """The inspection of each picture, by its sha256; inspected ones are not opened again."""
    keys = {digest: build_work_key("seen", _VERSION, digest) for digest in digests}
    inspections = compute_missing(keys, images.get, inspect_picture, work_cache)
    return {digest: Inspection(*fields) for digest, fields in inspections.items()}


def find_unchanged(
    images: ImageStore, work_cache: WorkCache, pairs: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """The pairs of pictures, by sha256, of which one shows what the other does; see `is_unchanged`.

    Compared ones are not compared again.
    """
    keys = {pair: build_work_key("unchanged", _VERSION, *pair) for pair in pairs}

    def load(pair: tuple[str, str]) -> PicturePair:
        return images.get(pair[0]), images.get(pair[1])

    compared = compute_missing(keys, load, is_unchanged, work_cache)
    return {pair for pair, unchanged in compared.items() if unchanged}


def measure_white_borders(
    images: ImageStore, work_cache: WorkCache, digests: Iterable[str]
) -> dict[str, float]:
    """The share of each picture's border that is white, by its sha256; measured once."""
    keys = {digest: build_work_key("white border", _VERSION, digest) for digest in digests}
    return compute_missing(keys, images.get, measure_white_border, work_cache)


FLAWS = ("blank", "wrong size", "repeated")


class Flaw(NamedTuple):
    """A name of `FLAWS`, and a description of the problem."""

    flaw: str
    reason: str


Flaws: TypeAlias = dict[int, Flaw]
"""Maps the place of a row to its flaw."""


def mark_flaws(
    rows: Sequence[Row],
    inspections: Mapping[str, Inspection],
    parameters: Mapping[str, Any],
    named: Callable[[Row], str],
) -> list[dict[str, Any]]:
    """The rows of what one painter painted; those of flawed pictures have the outcome `flawed`.

    `parameters` are those of the painter's entry; `named` is what a reason calls a row. Rows have
    the columns `prompt`, `sample`, `seed` and `is_stand_in`, `outcome`, and of one that is painted
    `sha256`, `width` and `height`. Of several flaws the first of `FLAWS` is named.
    """
    painted = {place: row for place, row in enumerate(rows) if row["outcome"] == "painted"}
    flaws = (
        _find_repeated(painted, inspections, named)
        | _find_wrong_sizes(painted, parameters)
        | _find_blank(painted, inspections)
    )
    return [
        {**row, "outcome": "flawed", **flaws[place]._asdict()} if place in flaws else dict(row)
        for place, row in enumerate(rows)
    ]


def _find_blank(rows: Mapping[int, Row], inspections: Mapping[str, Inspection]) -> Flaws:
    return {
        place: Flaw("blank", f"It is all {blank}." if blank == "black" else f"It is {blank}.")
        for place, row in rows.items()
        if (blank := inspections[row["sha256"]].blank) is not None
    }


def _find_wrong_sizes(rows: Mapping[int, Row], parameters: Mapping[str, Any]) -> Flaws:
    """Find pictures of another size than requested or, if no size was, than most others have."""
    sizes = {place: (row["width"], row["height"]) for place, row in rows.items()}
    flaws = {
        place: Flaw("wrong size", wrong)
        for place, size in sizes.items()
        if (wrong := describe_wrong_size(*size, parameters)) is not None
    }
    if len(find_requested_sides(parameters)) == 2 or not sizes:
        return flaws
    counts = Counter(size for place, size in sizes.items() if place not in flaws)
    usual, number = max(counts.items(), key=lambda size_count: size_count[1], default=((0, 0), 0))
    for place, (width, height) in sizes.items():
        if place not in flaws and (width, height) != usual:
            others = f"{number:,} of {len(sizes):,} pictures are {usual[0]} × {usual[1]} px"
            flaws[place] = Flaw("wrong size", f"It is {width} × {height} px, and {others}.")
    return flaws


def _find_repeated(
    rows: Mapping[int, Row],
    inspections: Mapping[str, Inspection],
    named: Callable[[Row], str],
) -> Flaws:
    """The same pixels for different requests.

    Of identical pictures of one prompt, the first is kept. Identical pictures of different prompts
    are all flawed, except schematics: these show only what they understand of a prompt, so that two
    prompts may have one picture.
    """
    alike: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, row in rows.items():
        alike[inspections[row["sha256"]].pixels][row["prompt"]].append(place)
    flaws: Flaws = {}
    for by_prompt in alike.values():
        for prompt, places in by_prompt.items():
            first = rows[min(places, key=lambda place: rows[place]["sample"])]
            another = next(
                (rows[others[0]] for other, others in by_prompt.items() if other != prompt),
                None,
            )
            for place in places:
                row = rows[place]
                if another is not None and not row["is_stand_in"]:
                    flaws[place] = Flaw("repeated", _format_repetition(row, another, named))
                elif row["sample"] != first["sample"]:
                    flaws[place] = Flaw("repeated", _format_repetition(row, first, named))
    return flaws


def _format_repetition(row: Row, other: Row, named: Callable[[Row], str]) -> str:
    difference = "seed" if row["seed"] is not None else "sample"
    differs = f"another {difference}" if other["prompt"] == row["prompt"] else "another prompt"
    return f"It is identical, pixel for pixel, to {named(other)} ({differs})."


def find_requested_sides(parameters: Mapping[str, Any]) -> dict[str, int]:
    """The sides in px, "width" and "height", as far as the parameters name them."""
    size = re.fullmatch(r"(\d+)x(\d+)", str(parameters.get("size", "")))
    sides = {"width": parameters.get("width"), "height": parameters.get("height")}
    if size:
        sides = {"width": int(size[1]), "height": int(size[2])}
    return {side: px for side, px in sides.items() if isinstance(px, int)}


def describe_wrong_size(width: int, height: int, parameters: Mapping[str, Any]) -> str | None:
    """Describe how a picture's size differs from the requested one; None if it does not."""
    got = {"width": width, "height": height}
    for side, px in find_requested_sides(parameters).items():
        if got[side] != px:
            return f"It is {width} × {height} px, but a {side} of {px} px was requested."
    config = parameters.get("image_config")
    image_size = re.fullmatch(r"(\d+)K", str(config.get("image_size"))) if config else None
    if image_size and max(width, height) < _MIN_SIZE_SHARE * 1024 * int(image_size[1]):
        return f"It is {width} × {height} px, but an image_size of {image_size[0]} was requested."
    return None

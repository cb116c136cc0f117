"""Flaws of painted pictures, whatever they were to show: blank, of a wrong size, or repeated."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from assets.kit.inspection import Inspection
from assets.kit.pictures import Row
from assets.kit.sizes import asked_sides, wrong_size

FLAWS = ("blank", "wrong size", "repeated")


class Flaw(NamedTuple):
    """One of `FLAWS`, and what is wrong in words."""

    flaw: str
    reason: str


Flaws: TypeAlias = dict[int, Flaw]
"""By the place of a row."""


def with_flaws(
    rows: Sequence[Row],
    inspections: Mapping[str, Inspection],
    parameters: Mapping[str, Any],
    named: Callable[[Row], str],
) -> list[dict[str, Any]]:
    """The rows of what one painter painted; those of flawed pictures have the outcome `flawed`.

    `parameters` are those of the painter's entry; `named` is what a reason calls a row. Rows have
    the columns `prompt`, `sample`, `seed` and `rehearsal`, `outcome`, and of one that is painted
    `sha256`, `width` and `height`. Of several flaws the first of `FLAWS` is named.
    """
    painted = {place: row for place, row in enumerate(rows) if row["outcome"] == "painted"}
    flaws = (
        _repeated(painted, named) | _wrong_size(painted, parameters) | _blank(painted, inspections)
    )
    return [
        {**row, "outcome": "flawed", **flaws[place]._asdict()} if place in flaws else dict(row)
        for place, row in enumerate(rows)
    ]


def _blank(rows: Mapping[int, Row], inspections: Mapping[str, Inspection]) -> Flaws:
    return {
        place: Flaw("blank", f"It is all {blank}." if blank == "black" else f"It is {blank}.")
        for place, row in rows.items()
        if (blank := inspections[row["sha256"]].blank) is not None
    }


def _wrong_size(rows: Mapping[int, Row], parameters: Mapping[str, Any]) -> Flaws:
    """Another size than was asked for or, where both sides were not, than most others have."""
    sizes = {place: (row["width"], row["height"]) for place, row in rows.items()}
    found = {
        place: Flaw("wrong size", wrong)
        for place, size in sizes.items()
        if (wrong := wrong_size(*size, parameters)) is not None
    }
    if len(asked_sides(parameters)) == 2 or not sizes:
        return found
    counts = Counter(size for place, size in sizes.items() if place not in found)
    usual, number = max(counts.items(), key=lambda each: each[1], default=((0, 0), 0))
    for place, (width, height) in sizes.items():
        if place not in found and (width, height) != usual:
            others = f"{number:,} of {len(sizes):,} pictures are {usual[0]} × {usual[1]} px"
            found[place] = Flaw("wrong size", f"It is {width} × {height} px, and {others}.")
    return found


def _repeated(rows: Mapping[int, Row], named: Callable[[Row], str]) -> Flaws:
    """The same bytes for different requests.

    Of one prompt's pictures the first is as good as any. Of those of different prompts none is,
    since the prompts of one painter ask for different things; but a schematic shows no more of a
    prompt than it understands, so that two prompts may well have one.
    """
    alike: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, row in rows.items():
        alike[row["sha256"]][row["prompt"]].append(place)
    found: Flaws = {}
    for by_prompt in alike.values():
        for prompt, places in by_prompt.items():
            first = rows[min(places, key=lambda place: rows[place]["sample"])]
            another = next(
                (rows[of[0]] for other, of in by_prompt.items() if other != prompt), None
            )
            for place in places:
                row = rows[place]
                if another is not None and not row["rehearsal"]:
                    found[place] = Flaw("repeated", _same_as(row, another, named))
                elif row["sample"] != first["sample"]:
                    found[place] = Flaw("repeated", _same_as(row, first, named))
    return found


def _same_as(row: Row, other: Row, named: Callable[[Row], str]) -> str:
    what = "seed" if row["seed"] is not None else "sample"
    differs = f"another {what}" if other["prompt"] == row["prompt"] else "another prompt"
    return f"It is, byte for byte, {named(other)}, of {differs}."

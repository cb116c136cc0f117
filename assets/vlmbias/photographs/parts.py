"""Which base images a step is about where a limit cut it, or a step before it, short."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from assets.kit.limits import Placed, first_of, in_order, part_of
from assets.kit.pictures import Row
from generators.photographs import Photograph

Photographs: TypeAlias = Sequence[Photograph]


def first_photographs(photographs: Photographs, limit: int | None) -> list[Photograph]:
    """The first base images in the order of a limit: even over subtopics, then over subjects."""
    return first_of(photographs, limit, _placed)


def part_painted(photographs: Photographs, paintings: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of paintings is about.

    That is the first so many, as a limit leaves them, if their prompts are just those of the table;
    else all.
    """
    there, needed, number = {row["prompt"] for row in paintings}, set[str](), 0
    for photograph in in_order(photographs, _placed):
        prompts = {painting.prompt for painting in photograph.paintings}
        if not prompts <= there:
            break
        needed, number = needed | prompts, number + 1
    return first_photographs(photographs, number if number and needed == there else None)


def part_in(photographs: Photographs, rows: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of edits or candidates is about, likewise."""
    return part_of(photographs, {row["base_id"] for row in rows}, _placed)


def _placed(photograph: Photograph) -> Placed:
    return Placed(photograph.base_id, (photograph.subtopic, photograph.subject))

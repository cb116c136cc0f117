"""Combined: pairs and triples of biases, each at its best configuration (FRAME, Table 6)."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from pydantic import Field, field_validator

from assets.frame.biased_images import SomeBiases
from assets.frame.biases import DONE, NONE, biased_row, works_of
from assets.frame.common import GROUP, by_source
from assets.frame.readability import with_readable
from assets.frame.references import REFERENCES
from assets.frame.scores import READ_SOME, SCORES, asked, originals, read, to_score
from assets.frame.search import CHOICES, best_of, hinges, of_originals, searched_inputs
from assets.kit.judging import JudgeStep
from assets.kit.perturbed_pictures import known_pictures, make_pictures
from assets.kit.step import (
    PENDING,
    PORTION,
    SOME_PICTURE,
    Conversation,
    Extent,
    Row,
    Work,
    in_chunks,
)
from generators.perturbations.grids import GRID, ordered
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import from_json, to_json
from generators.prompts.judging_templates import STANDARD
from resources.models.catalog import Catalog, Model
from resources.models.requests import Look


class Combining(SomeBiases):
    """Which combinations are tried; a limit is on pictures before they have them."""

    sizes: list[int] = Field(
        default=[2, 3], min_length=1, description="How many biases at once: the paper has 2 and 3."
    )

    @field_validator("sizes")
    @classmethod
    def _several(cls, sizes: list[int]) -> list[int]:
        for size in sizes:
            if not 2 <= size <= len(GRID):
                raise ValueError(f"sizes: no {size}. Combine 2 to {len(GRID)} biases.")
        return sizes


class Combined(JudgeStep[Combining]):
    """What one judge gives pictures with several biases; code makes those that are missing."""

    group, columns, config, partitions = GROUP, SCORES, Combining, by_source
    named, references, asks = "combined", REFERENCES, Look(())
    unread, is_automatic = ("bias", READ_SOME), False
    named_by, has_portions = ("image_id", "parameters"), True

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = searched_inputs(judge)
        self.description = (
            f"What {judge.name} gives pictures with pairs and triples of biases, each at its best "
            "configuration, one laid on the other in a stated order (§6, Table 6)."
        )

    def portions(self, work: Work[Combining]) -> Iterator[list[dict[str, Any]]]:
        """Each picture as it was, and with every combination, some thousands at a time."""
        search = work.rows("search")
        combined = chain(*(_combinations(search, choice, work.config) for choice in CHOICES))
        # Where both choices are the same configuration, nothing is asked twice.
        tried = [(), *{to_json(each): each for each in combined}.values()]
        names = originals(work, work.config.limit)
        every = (
            biased_row(image, each)
            for image in work.each("biased_images")
            if image["bias"] == NONE and image["image_id"] in names
            for each in tried
        )

        def known(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                to_score(row, STANDARD, self)
                | ({"outcome": PENDING} if hinges(row, search) else {})
                for row in known_pictures(made, works_of(made), DONE, work.images, work.ledger)
            ]

        return map(known, in_chunks(every, PORTION))

    def made(
        self, work: Work[Combining], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        found, number = make_pictures(rows, works_of(rows), DONE, work.images, work.ledger)
        work.log.info("made %d of %d combinations", number, len(found))
        return with_readable(found, work.images, work.ledger)

    def converse(self, work: Work[Combining], row: Row) -> Conversation:
        """Have the picture scored; one that cannot have the combination is not asked about."""
        if row["outcome"] == "inapplicable":
            return {}
        return (yield from super().converse(work, row))

    def query(self, work: Work[Combining], row: Row) -> Conversation:
        """Have the picture scored by the original instruction."""
        digest = row["sha256"] or SOME_PICTURE
        return read((yield asked(STANDARD, row["instruction"] or "", digest)))

    def extent(self, work: Work[Combining], rows: Sequence[Row]) -> Extent:
        """Of all pictures as they were."""
        return of_originals(work, rows)


def _combinations(
    search: Sequence[Row], choice: str, config: Combining
) -> Iterator[tuple[Perturbation, ...]]:
    best = [
        from_json(parameters)
        for bias, parameters in best_of(search, choice).items()
        if not config.biases or bias in config.biases
    ]
    for size in config.sizes:
        for some in combinations(best, size):
            yield ordered(chain(*some))

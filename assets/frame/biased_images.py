"""Biased images: every picture unchanged, and with each bias of its domain."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, product
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from assets.frame.biases import DONE, Configurations, biased_row, configurations, works_of
from assets.frame.boxes import BOXES
from assets.frame.common import GROUP, by_source, domain_and_source, key
from assets.frame.images import ASKED_OF, IMAGES, OF_IMAGE, usable, usable_names
from assets.frame.readability import with_readable
from assets.kit.choice import names_among
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, values
from assets.kit.limits import Limited
from assets.kit.perturbed_pictures import known_pictures, make_pictures
from assets.kit.pictures import sheet
from assets.kit.previews import markdown_table
from assets.kit.step import PENDING, PORTION, Extent, Input, Row, Step, Unfit, Work, in_chunks
from generators.perturbations.grids import GRID, biases_of
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import to_json

OF_BIASED = {
    **OF_IMAGE,
    "bias": (TEXT, "none for the original, a bias, or several as in instruction+padding"),
    "parameters": (TEXT, "The perturbations with their parameters, in their order, as JSON"),
    "original": (TEXT, "Name of the original picture in the image store"),
    "sha256": (TEXT, "Name of the biased picture there; empty where there is none"),
    "readable": (BOOLEAN, "Whether code reads the same in it as before; empty where none can"),
    "rehearsal": (BOOLEAN, "Whether something offline had a part in it, so that it is no result"),
}
"""What is known of a biased picture."""

BIASED = Columns(
    **OF_BIASED,
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    outcome=(TEXT, "original, biased, or inapplicable"),
    reason=(TEXT, "Why the bias cannot be had; else empty"),
    boxes=(TEXT, "Where its objects are, as frame/boxes has it; empty where nobody says it"),
    boxes_reason=(TEXT, "Why there are no boxes; else empty"),
    calls=(TEXTS, "Keys of the stored calls behind the original"),
    **ASKED_OF,
)


_BOXED = Columns(**BOXES.some("image_id", "boxes", "outcome", "reason"))


class SomeBiases(Limited):
    """Some biases; a limit is on pictures before they have them."""

    biases: Annotated[list[str], names_among(GRID)] = Field(
        default=[], description=f"Some of {', '.join(GRID)}; by default all that fit the domain."
    )


class Biases(SomeBiases):
    """Which biases are tried, and how."""

    configurations: Configurations = Field(
        default="grid",
        description="grid for every configuration that the paper tries (App. B.3), up to 56 "
        "pictures of each; single for one of each bias.",
    )


class BiasedImages(Step[Biases]):
    """The pictures of a domain and source with their biases; code makes what is missing."""

    group, name, columns, config, partitions = GROUP, "biased_images", BIASED, Biases, by_source
    asks_models = False
    kinds, named_by, has_portions = ("image",), ("image_id", "parameters"), True
    inputs = MappingProxyType(
        {
            "pictures": Input(key("images"), by_row=IMAGES, by_default=True),
            "boxes": Input(key("boxes"), read_by=_BOXED, optional=True),
        }
    )
    description = (
        "Each picture as it was painted, and with every configuration of every bias that the paper "
        "tries on its domain (§3, App. B.3). What was made before is not made again."
    )

    def portions(self, work: Work[Biases]) -> Iterator[list[dict[str, Any]]]:
        """The first picture of each item, original and biased, some thousands at a time.

        Raises `Unfit` for no bias.
        """
        tried = self._tried(work)
        every = (biased_row(image, each) for image in _with_boxes(work) for each in tried)
        return map(partial(_known, work), in_chunks(every, PORTION))

    def _tried(self, work: Work[Biases]) -> list[tuple[Perturbation, ...]]:
        """What the pictures are made with, first of all nothing."""
        domain, _ = domain_and_source(work.partition)
        tried = configurations(domain, work.config.biases, work.config.configurations)
        if not tried:
            raise Unfit(
                f"{self.key.to_user_string()}: {domain} pictures cannot have "
                f"{' or '.join(work.config.biases)}. Name some of {', '.join(biases_of(domain))}."
            )
        return [(), *tried]

    def wanted(self, work: Work[Biases], rows: Sequence[Row]) -> Iterable[tuple[Any, ...]]:
        """Each picture with each configuration."""
        tried = [to_json(each) for each in self._tried(work)]
        return product(usable_names(work, work.config.limit), tried)

    def made(self, work: Work[Biases], rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        found, number = make_pictures(rows, works_of(rows), DONE, work.images, work.ledger)
        work.log.info("made %d of %d biased pictures", number, len(found))
        return with_readable(found, work.images, work.ledger)

    def extent(self, work: Work[Biases], rows: Sequence[Row]) -> Extent:
        """Of all pictures that there are."""
        there = usable_names(work, None)
        return Extent(len(set(values(rows, "image_id"))), len(there), "pictures")

    def metadata(self, work: Work[Biases], rows: Sequence[Row]) -> dict[str, Any]:
        """How many pictures have each bias, and some of one item."""
        counts = Counter(values(rows, "bias", "outcome"))
        table = [(*ended, number) for ended, number in counts.items()]
        by_picture = groupby(rows, lambda row: row["image_id"])
        first = next(([*of_picture] for _, of_picture in by_picture), [])
        digests = (digest for (digest,) in values(rows, "sha256") if digest)
        return {
            # By the first half of each name: of very many pictures the whole ones are large.
            "pictures": len({int(digest[:16], 16) for digest in digests}),
            "by_bias": markdown_table(pd.DataFrame(table, columns=["bias", "outcome", "pictures"])),
            "contact_sheet": sheet(
                first, lambda row: f"{row['bias']} {row['parameters']}"[:60], work.images
            ),
        }


def _known(work: Work[Any], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the pictures that were made before."""
    return known_pictures(rows, works_of(rows), DONE, work.images, work.ledger)


def _with_boxes(work: Work[Biases]) -> Iterator[dict[str, Any]]:
    """The pictures that biases are added to, each with its boxes, or why it has none."""
    told = work.rows("boxes")
    boxes = {row["image_id"]: (row["boxes"], row["reason"], row["outcome"]) for row in told}
    for row in usable(work, work.config.limit):
        found, reason, outcome = boxes.get(row["image_id"], (None, None, None))
        pending = {"boxes_pending": outcome == PENDING}
        yield {**row, "boxes": found, "boxes_reason": reason, **pending}

"""Biased images: every picture unchanged, and with each bias of its domain."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, product
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from assets.frame.biases import (
    DONE,
    Configurations,
    build_biased_row,
    list_configurations,
    to_perturbation_requests,
)
from assets.frame.boxes import BOXES
from assets.frame.common import asset_key, by_source, split_source_key
from assets.frame.images import (
    COLLECTION_QUESTION_COLUMNS,
    IMAGE_COLUMNS,
    IMAGES,
    iterate_usable_pictures,
    list_usable_names,
)
from assets.frame.readability import add_readability
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, select_values
from assets.kit.forecast import PENDING
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import validate_names
from assets.kit.perturbed_pictures import find_perturbed_pictures, make_perturbed_pictures
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step import PORTION, Extent, Step, StepAsset, StepTable, UnfitAnswers
from assets.kit.step_run import Input, Row, StepRun
from generators.perturbations.grids import GRID, list_biases
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import to_json
from resources.models.catalog import Catalog
from resources.storage.chunks import split_into_chunks

BIAS_COLUMNS = {
    **IMAGE_COLUMNS,
    "bias": (TEXT, "none for the original, a bias, or several as in instruction+padding"),
    "parameters": (TEXT, "The perturbations with their parameters, in their order, as JSON"),
    "original": (TEXT, "Name of the original picture in the image store"),
    "sha256": (TEXT, "Name of the biased picture there; empty where there is none"),
    "readable": (
        BOOLEAN,
        "True if code reads the same text as before; empty if it cannot read the picture",
    ),
    "is_stand_in": (BOOLEAN, "True if a stand-in took part, so that it is no result"),
}
"""Columns that describe a biased picture."""

BIASED_IMAGE_COLUMNS = Columns(
    **BIAS_COLUMNS,
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    outcome=(TEXT, "original, biased, or inapplicable"),
    reason=(TEXT, "Reason why the bias is inapplicable; else empty"),
    boxes=(TEXT, "Boxes of its objects, from frame/boxes; empty if unknown"),
    boxes_reason=(TEXT, "Reason for missing boxes; else empty"),
    calls=(TEXTS, "Keys of the stored calls behind the original"),
    **COLLECTION_QUESTION_COLUMNS,
)


_BOX_COLUMNS = Columns(**BOXES.subset("image_id", "boxes", "outcome", "reason"))


class BiasSelectionConfig(LimitConfig):
    """Biases to include; a limit counts pictures before they have them."""

    biases: Annotated[list[str], validate_names(GRID)] = Field(
        default=[],
        description=f"Biases to add: any of {', '.join(GRID)}. Default: all that fit the domain.",
    )


class BiasedImagesConfig(BiasSelectionConfig):
    """Biases to try, and their configurations."""

    configurations: Configurations = Field(
        default="grid",
        description=(
            "grid: all configurations of the paper (App. B.3), up to 56 pictures per original. "
            "single: one configuration per bias."
        ),
    )


class BiasedImages(Step[BiasedImagesConfig]):
    """The pictures of a domain and source with their biases; code makes what is missing."""

    config = BiasedImagesConfig
    asset = StepAsset(
        key=asset_key("biased_images"),
        partitions_def=by_source,
        kinds=("image",),
        description=(
            "Pictures as painted, and with every configuration of every bias that the paper tries "
            "on their domain (§3, App. B.3). Existing pictures are kept."
        ),
    )
    table = StepTable(
        columns=BIASED_IMAGE_COLUMNS,
        unstored_keys=(*IMAGES.columns, "boxes_pending"),
        key_columns=("image_id", "parameters"),
        has_portions=True,
    )
    inputs = MappingProxyType(
        {
            "pictures": Input(
                asset_key("images"), streamed_columns=IMAGES, uses_default_config=True
            ),
            "boxes": Input(asset_key("boxes"), row_columns=_BOX_COLUMNS, is_optional=True),
        }
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.table = replace(self.table, list_expected_keys=self._list_keys)

    def rows(self, work: StepRun[BiasedImagesConfig]) -> Iterator[dict[str, Any]]:
        """The first picture of each item, original and biased.

        Raises `UnfitAnswers` for no bias.
        """
        tried = self._list_configurations(work)
        biased_rows = (
            build_biased_row(image, perturbations)
            for image in _iterate_boxed_pictures(work)
            for perturbations in tried
        )
        chunks = split_into_chunks(biased_rows, PORTION)
        return chain.from_iterable(map(partial(_restore_pictures, work), chunks))

    def _list_configurations(
        self, work: StepRun[BiasedImagesConfig]
    ) -> list[tuple[Perturbation, ...]]:
        """List the configurations to try, starting with the empty one."""
        domain, _ = split_source_key(work.partition)
        tried = list_configurations(domain, work.config.biases, work.config.configurations)
        if not tried:
            raise UnfitAnswers(
                f"{self.key.to_user_string()}: {domain} pictures cannot have "
                f"{' or '.join(work.config.biases)}. Name some of {', '.join(list_biases(domain))}."
            )
        return [(), *tried]

    def _list_keys(
        self, work: StepRun[BiasedImagesConfig], rows: Sequence[Row]
    ) -> Iterable[tuple[Any, ...]]:
        """Return the keys of every picture with every configuration."""
        tried = [to_json(perturbations) for perturbations in self._list_configurations(work)]
        return product(list_usable_names(work, work.config.limit), tried)

    def prepare(
        self, work: StepRun[BiasedImagesConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        finished_rows, number = make_perturbed_pictures(
            rows, to_perturbation_requests(rows), DONE, work.images, work.work_cache
        )
        work.log.info("made %d of %d biased pictures", number, len(finished_rows))
        return add_readability(finished_rows, work.images, work.work_cache)

    def extent(self, work: StepRun[BiasedImagesConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all usable pictures."""
        names = list_usable_names(work, None)
        return Extent(
            count=len(set(select_values(rows, "image_id"))), total=len(names), unit="pictures"
        )

    def metadata(self, work: StepRun[BiasedImagesConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count pictures by bias and outcome; show all versions of one picture."""
        counts = Counter(select_values(rows, "bias", "outcome"))
        table = [(*ended, number) for ended, number in counts.items()]
        by_picture = groupby(rows, lambda row: row["image_id"])
        first = next(([*of_picture] for _, of_picture in by_picture), [])
        digests = (digest for (digest,) in select_values(rows, "sha256") if digest)
        return {
            # By the first half of each name: of very many pictures the whole ones are large.
            "pictures": len({int(digest[:16], 16) for digest in digests}),
            "by_bias": markdown_table(pd.DataFrame(table, columns=["bias", "outcome", "pictures"])),
            "contact_sheet": sample_contact_sheet(
                first, lambda row: f"{row['bias']} {row['parameters']}"[:60], work.images
            ),
        }


def _restore_pictures(work: StepRun[Any], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the pictures that were made before."""
    return find_perturbed_pictures(
        rows, to_perturbation_requests(rows), DONE, work.images, work.work_cache
    )


def _iterate_boxed_pictures(work: StepRun[BiasedImagesConfig]) -> Iterator[dict[str, Any]]:
    """The pictures that biases are added to, each with its boxes, or why it has none."""
    box_rows = work.read_rows("boxes")
    boxes = {row["image_id"]: (row["boxes"], row["reason"], row["outcome"]) for row in box_rows}
    for row in iterate_usable_pictures(work, work.config.limit):
        image_boxes, reason, outcome = boxes.get(row["image_id"], (None, None, None))
        pending = {"boxes_pending": outcome == PENDING}
        yield {**row, "boxes": image_boxes, "boxes_reason": reason, **pending}

"""Images: a painter's pictures of the perturbed instructions, or a user's collection."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import Field

from assets.frame.common import asset_key, by_source, split_source_key
from assets.frame.perturbed_instructions import PERTURBED_INSTRUCTION_COLUMNS
from assets.frame.writing import list_concepts, select_first_items
from assets.kit.collections import COLLECTION_COLUMNS, collection_key, select_stored_rows
from assets.kit.columns import REAL, TEXT, WHOLE, Columns
from assets.kit.forecast import PENDING, NotCountable
from assets.kit.limits import LimitConfig, SamplingKey, format_count_of_total, stratified_head
from assets.kit.model_lookup import find_model
from assets.kit.painting import PAINTED_COLUMNS, PaintStep
from assets.kit.pictures import sample_contact_sheet
from assets.kit.step import Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.prompts.instructions import MAX_WORDS
from generators.prompts.visual_concepts import OBJECT
from resources.models.catalog import Model
from resources.models.requests import PaintRequest

IMAGE_COLUMNS = {
    "item_id": (TEXT, "Item shown in the picture; for a collection, the name of its row"),
    "domain": (TEXT, "people, animals, illustration, indoor or outdoor"),
    "source": (TEXT, "The painter, or the collection"),
    "image_id": (TEXT, "Source, item and sample"),
    "instruction": (TEXT, "Original instruction, by which the picture is judged"),
    "keyword": (TEXT, "Object in the picture, as the keyword overlay names it; empty for none"),
    "concepts": (WHOLE, "Number of the item's concepts; empty for a collection"),
    "changes": (WHOLE, "Number of concepts changed in the painted prompt; empty for a collection"),
    "alignment": (
        REAL,
        "Share of unchanged concepts: how well it should fit; empty for a collection",
    ),
}
"""Columns that describe a picture and that its biased versions share."""

COLLECTION_QUESTION_COLUMNS = {
    "question": (TEXT, "A collection's question about the original, for reading by code"),
    "answer": (TEXT, "Answer in the collection; both are empty for painters"),
}
"""Columns of a collection's question about a picture."""

IMAGES = Columns(**IMAGE_COLUMNS, **PAINTED_COLUMNS, **COLLECTION_QUESTION_COLUMNS)
_WORD = 12
"""Letters of a word that is not written yet, in a plan."""


class FrameImagesConfig(LimitConfig):
    """Settings for painting; a limit counts items."""

    samples: int = Field(
        default=1,
        ge=1,
        le=8,
        description="Pictures per instruction. Pairwise comparison uses the first two.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 9,
        description=(
            "Random seed for the noise of the first sample, if the painter takes one; each "
            "further sample adds one to it."
        ),
    )


class FrameImages(PaintStep[FrameImagesConfig]):
    """The pictures of a domain, by one painter or of one collection."""

    config = FrameImagesConfig
    asset = StepAsset(
        key=asset_key("images"),
        partitions_def=by_source,
        description=(
            "Pictures that a painter makes from a domain's perturbed instructions, or the "
            "pictures of your own collection. They are judged by the original instructions "
            "(§4.1)."
        ),
    )
    table = StepTable(columns=IMAGES, key_columns=("item_id", "sample"))
    inputs = MappingProxyType(
        {
            "perturbed_instructions": Input(
                asset_key("perturbed_instructions"),
                "domain",
                row_columns=PERTURBED_INSTRUCTION_COLUMNS,
                is_optional=True,
            )
        }
    )

    def model(self, partition: str, config: FrameImagesConfig) -> Model | None:  # type: ignore[override]
        """The painter; None for a collection. Raises `NoSuchModel` for what is neither."""
        _, source = split_source_key(partition)
        listed = [model.name for model in self.catalog.select_role("painter")]
        return find_model(self.catalog, source, "painter") if source in listed else None

    def rows(self, work: StepRun[FrameImagesConfig]) -> list[dict[str, Any]]:
        """A row for each picture. Raises `NotCountable` for a source without a table."""
        painter = self.model(work.partition, work.config)
        if painter is None:
            return _build_collected_rows(work)
        if work.tables["perturbed_instructions"].empty:
            raise NotCountable(asset_key("perturbed_instructions").to_user_string())
        rows = work.read_rows("perturbed_instructions")
        written = [row for row in rows if row["outcome"] in ("written", PENDING)]
        return [
            self._build_painting_row(work, painter, row, sample)
            for row in select_first_items(written, work.config.limit)
            for sample in range(work.config.samples)
        ]

    def _build_painting_row(
        self, work: StepRun[FrameImagesConfig], painter: Model, item: Row, sample: int
    ) -> dict[str, Any]:
        is_pending = item["outcome"] == PENDING
        prompt = "?" * _WORD * MAX_WORDS if is_pending else item["prompt"]
        seed = work.config.seed + sample
        request = (
            PaintRequest(prompt, seed)
            if painter.takes_seed
            else PaintRequest(prompt, sample=sample)
        )
        item_columns = {name: item.get(name) for name in IMAGE_COLUMNS} | {
            "source": painter.name,
            "image_id": f"{painter.name}/{item['item_id']}/{sample}",
            "keyword": list_concepts(item).get(OBJECT),
        }
        row = self.build_row(work, item_columns, request, calls=item["calls"], sample=sample)
        return row | ({"outcome": PENDING} if is_pending else {})

    def converse(self, work: StepRun[FrameImagesConfig], row: Row) -> Any:
        """Have a picture painted; those of a collection are there."""
        if "request" not in row:
            return {}
        return (yield from super().converse(work, row))

    def finish(
        self, work: StepRun[FrameImagesConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Inspect what was painted."""
        painter = self.model(work.partition, work.config)
        return rows if painter is None else super().finish(work, rows)

    def describe_picture(self, row: Row) -> str:
        """Its name."""
        return str(row["image_id"])

    def extent(self, work: StepRun[FrameImagesConfig], rows: Sequence[Row]) -> Extent | None:
        """Return the extent among all items that can be painted."""
        if self.model(work.partition, work.config) is None:
            return None
        outcomes = work.tables["perturbed_instructions"]["outcome"]
        paintable_items = int(outcomes.isin(["written", PENDING]).sum())
        return Extent(count=len(rows) // work.config.samples, total=paintable_items, unit="items")

    def metadata(self, work: StepRun[FrameImagesConfig], rows: Sequence[Row]) -> Mapping[str, Any]:
        """Show some of the pictures."""
        return {
            "pictures": format_count_of_total(
                sum(row["sha256"] is not None for row in rows), len(rows), "rows"
            ),
            "contact_sheet": sample_contact_sheet(
                rows, lambda row: str(row["instruction"])[:60], work.images
            ),
        }


def iterate_usable_pictures(work: StepRun[Any], limit: int | None) -> Iterator[dict[str, Any]]:
    """The `pictures` that biases are added to: the first of each item, but for flawed ones.

    Of a limit, those whose names come first by a hash.
    """
    names = set(list_usable_names(work, limit))
    return (row for row in work.iterate_rows("pictures") if row["image_id"] in names)


def list_usable_names(work: StepRun[Any], limit: int | None) -> list[str]:
    """The names of these pictures."""
    names = [
        row["image_id"]
        for row in work.iterate_rows("pictures", "image_id", "outcome", "sample")
        if row["outcome"] in ("painted", "taken", PENDING) and row["sample"] == 0
    ]
    return stratified_head(names, limit, lambda name: SamplingKey(name, ()))


def _build_collected_rows(work: StepRun[FrameImagesConfig]) -> list[dict[str, Any]]:
    """The pictures of a collection: those of the domain, and those that are of none.

    A picture of which several questions are asked counts once with each instruction.
    """
    domain, source = split_source_key(work.partition)
    collection = collection_key(source)
    table = work.find_table(collection, "")
    if table is None:
        raise NotCountable(collection.to_user_string())
    rows: dict[tuple[str, str | None], Row] = {}
    for row in select_stored_rows(COLLECTION_COLUMNS.read_rows(table, collection)):
        if row["domain"] is None or row["domain"].strip().lower() == domain:
            rows.setdefault((row["sha256"], row["text"]), row)
    limited_rows = stratified_head(
        [*rows.values()], work.config.limit, lambda row: SamplingKey(row["image_id"], ())
    )
    return [_build_own_row(domain, source, row) for row in limited_rows]


def _build_own_row(domain: str, source: str, row: Row) -> dict[str, Any]:
    keyword = json.loads(row["other_columns"] or "{}").get("keyword")
    without = None if row["text"] else f"collections/{source} has no text for it to be judged by."
    return {
        **dict.fromkeys(IMAGES.columns),
        "item_id": row["image_id"],
        "domain": domain,
        "source": source,
        "image_id": f"{source}/{row['image_id']}/0",
        "instruction": row["text"],
        "keyword": str(keyword) if keyword else None,
        **{name: row[name] for name in ("question", "answer", "sha256", "width", "height")},
        "sample": 0,
        "outcome": "malformed" if without else "taken",
        "reason": without,
        "is_stand_in": False,
        "calls": [],
    }

"""Rated captions: those of a collection that people have scored, whoever wrote them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dagster import AssetDep

from assets.kit.collections import collection_key, load_listed_collections
from assets.kit.columns import REAL, REALS, TEXT, TEXTS, Columns
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.step import Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.philautia.common import asset_key, dataset_partitions
from assets.philautia.pictures import format_picture_name, group_rows_by_picture
from resources.models.catalog import Catalog

RATED_CAPTION_COLUMNS = Columns(
    image_id=(TEXT, "The picture, as philautia/pictures names it"),
    candidate=(TEXT, "Name of the row in the collection"),
    sha256=(TEXT, "Name of the picture in the image store"),
    caption=(TEXT, "Caption that people have scored"),
    references=(TEXTS, "Correct captions, without the scored one"),
    human_score=(REAL, "Mean human score, on the collection's scale"),
    human_scores=(REALS, "Scores by each annotator"),
    scale_low=(REAL, "Lowest score of the scale"),
    scale_high=(REAL, "Highest score of the scale"),
    outcome=(TEXT, "taken"),
)


class RatedCaptions(Step[LimitConfig]):
    """The captions of a collection that people have scored; none for any other dataset."""

    config = LimitConfig
    asset = StepAsset(
        key=asset_key("rated_captions"),
        partitions_def=dataset_partitions,
        description=(
            "Captions of a collection that people have scored, to compare judges with people."
        ),
    )
    table = StepTable(columns=RATED_CAPTION_COLUMNS, key_columns=("image_id", "candidate"))

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        deps = [AssetDep(collection_key(name)) for name in _list_rated_collections()]
        self.asset = replace(self.asset, deps=deps)

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """Build one row per caption, which a limit counts. Raises `NotCountable` as `pictures`."""
        captions = [*_captions(work)] if work.partition in _list_rated_collections() else []
        return stratified_head(
            captions, work.config.limit, lambda row: SamplingKey(row["candidate"], ())
        )

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Report the number of rated captions."""
        return {"rated_captions": len(rows)}


def _list_rated_collections() -> list[str]:
    """The collections that have captions with human scores."""
    collections = load_listed_collections().items()
    return [
        name
        for name, collection in collections
        if collection.columns.text and collection.columns.human_score
    ]


def _captions(work: StepRun[LimitConfig]) -> Iterator[dict[str, Any]]:
    for digest, rows in group_rows_by_picture(work).items():
        for row in rows:
            if row["human_score"] is None or row["text"] is None:
                continue
            others = [text for text in row["references"] or () if text != row["text"]]
            yield {
                "image_id": format_picture_name(work.partition, rows[0]),
                "candidate": row["image_id"],
                "sha256": digest,
                "caption": row["text"],
                "references": others,
                **{name: row[name] for name in ("human_score", "human_scores")},
                **{name: row[name] for name in ("scale_low", "scale_high")},
                "outcome": "taken",
            }

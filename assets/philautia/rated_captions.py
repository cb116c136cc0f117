"""Rated captions: those of a collection that people have scored, whoever wrote them."""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import AssetDep

from assets.kit.collections import collection_key, listed_collections
from assets.kit.columns import REAL, REALS, TEXT, TEXTS, Columns
from assets.kit.limits import Limited, Placed, first_of
from assets.kit.step import Row, Step, Work
from assets.philautia.common import GROUP, datasets
from assets.philautia.pictures import picture_name, rows_by_picture
from resources.models.catalog import Catalog

RATED = Columns(
    image_id=(TEXT, "The picture, as philautia/pictures names it"),
    candidate=(TEXT, "What the collection calls the row"),
    sha256=(TEXT, "Name of the picture in the image store"),
    caption=(TEXT, "The caption that people have scored"),
    references=(TEXTS, "Captions that are known to be right, without the one that was scored"),
    human_score=(REAL, "The mean of what people gave, on their scale"),
    human_scores=(REALS, "What each of them gave"),
    scale_low=(REAL, "The least score that people could give"),
    scale_high=(REAL, "The greatest"),
    outcome=(TEXT, "taken"),
)


class RatedCaptions(Step[Limited]):
    """The captions of a collection that people have scored; none for any other dataset."""

    group, name, columns, config = GROUP, "rated_captions", RATED, Limited
    asks_models, divided_by = False, staticmethod(datasets)
    named_by = ("image_id", "candidate")
    description = (
        "Captions of a collection that people have scored: on these, judges are compared with "
        "people."
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.deps = [AssetDep(collection_key(name)) for name in _rated()]

    def rows(self, work: Work[Limited]) -> list[dict[str, Any]]:
        """One row a caption; a limit is on captions. Raises `NotCountable` as `pictures` does."""
        found = [*_captions(work)] if work.partition in _rated() else []
        return first_of(found, work.config.limit, lambda row: Placed(row["candidate"], ()))

    def metadata(self, work: Work[Limited], rows: Sequence[Row]) -> dict[str, Any]:
        """How many there are."""
        return {"rated_captions": len(rows)}


def _rated() -> list[str]:
    """The collections that have captions with human scores."""
    each = listed_collections().items()
    return [name for name, of in each if of.columns.text and of.columns.human_score]


def _captions(work: Work[Limited]) -> Iterator[dict[str, Any]]:
    for digest, rows in rows_by_picture(work).items():
        for row in rows:
            if row["human_score"] is None or row["text"] is None:
                continue
            others = [text for text in row["references"] or () if text != row["text"]]
            yield {
                "image_id": picture_name(work.partition, rows[0]),
                "candidate": row["image_id"],
                "sha256": digest,
                "caption": row["text"],
                "references": others,
                **{name: row[name] for name in ("human_score", "human_scores")},
                **{name: row[name] for name in ("scale_low", "scale_high")},
                "outcome": "taken",
            }

"""The pictures: every bias beside the original, and those that moved each judge most."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from assets.frame.biases import NONE
from assets.frame.pages.source_page import ScoredSource
from assets.frame.search import IN_SAMPLE
from assets.kit.columns import to_records
from assets.kit.step import Row
from assets.report.formats import capitalize_first, format_score
from assets.report.publish import Thumbnail

SHOWN = 544
"""The longer side in px of a picture."""
_MOST = 6
"""Pictures of a judge."""
_PICTURE = ["domain", "image_id"]


class Slide(NamedTuple):
    """A picture as it was and biased, what it is of, and what judges gave both."""

    title: str
    instruction: str
    original: Thumbnail
    changed: Thumbnail
    scores: Sequence[tuple[str, str]]
    """By judge, as in 2 → 4."""


class SourceGallery(NamedTuple):
    """The slides of a source."""

    biases: Mapping[str, Sequence[Slide]]
    movable: Mapping[str, Sequence[Slide]]

    @property
    def thumbnails(self) -> Iterator[Thumbnail]:
        """The pictures of all slides."""
        for part in (self.biases, self.movable):
            for slides in part.values():
                for slide in slides:
                    yield from (slide.original, slide.changed)


def gallery(source: ScoredSource) -> SourceGallery:
    """One picture a domain of each bias, and what moved each judge most; both in sample."""
    scores = source.scores
    best = source.search[source.search["choice"].eq(IN_SAMPLE)]
    before = scores[scores["bias"].eq(NONE)].set_index(["model", *_PICTURE])["score"]
    of_best = best[["model", "domain", "bias", "parameters"]]
    after = scores.merge(of_best, on=["model", "domain", "bias", "parameters"])
    after = after.join(before.rename("before"), on=["model", *_PICTURE])
    after["rise"] = after["score"] - after["before"]
    by_bias = {
        # The first picture of each domain, as the first judge's best configuration has it.
        bias: [
            _slide(capitalize_first(row["domain"]), row, after)
            for row in to_records(first_pictures)
        ]
        for bias in source.biases
        for first_pictures in [after[after["bias"].eq(bias)].drop_duplicates("domain")]
    }
    movable = {judge: [*_movable(after[after["model"].eq(judge)])] for judge in source.judges}
    return SourceGallery(by_bias, movable)


def _movable(after: pd.DataFrame) -> Iterator[Slide]:
    """The pictures whose score rises most, each once, by the bias that moves it most."""
    risen = after[after["rise"].gt(0)].sort_values(["rise", "image_id"], ascending=[False, True])
    for row in to_records(risen.drop_duplicates("image_id").head(_MOST)):
        yield _slide(f"{capitalize_first(row['domain'])}, {row['bias']}", row, after)


def _slide(title: str, row: Row, after: pd.DataFrame) -> Slide:
    same = after[after["image_id"].eq(row["image_id"]) & after["parameters"].eq(row["parameters"])]
    scores_by_judge = [
        (str(judge), f"{_points(score_before)} → {_points(score_after)}")
        for judge, score_before, score_after in zip(
            same["model"], same["before"], same["score"], strict=True
        )
    ]
    original, changed = (Thumbnail(row[name], SHOWN) for name in ("original", "sha256"))
    return Slide(title, row["instruction"], original, changed, scores_by_judge)


def _points(value: float) -> str:
    return "no score" if pd.isna(value) else format_score(value, 0 if value == int(value) else 1)

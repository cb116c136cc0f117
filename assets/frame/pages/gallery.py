"""The pictures: every bias beside the original, and those that moved each judge most."""

from collections.abc import Iterator

import pandas as pd

from assets.frame.biases import NONE
from assets.frame.pages.source_page import ScoredSource
from assets.frame.search import IN_SAMPLE
from assets.kit.columns import to_records
from assets.kit.step_run import Row
from assets.report.exhibits import Exhibit, Gallery
from assets.report.formats import capitalize_first, format_score
from assets.report.publish import Thumbnail

SHOWN = 544
"""The longer side in px of a picture."""
_MAX_SHOWN = 6
"""Pictures of a judge."""
_PICTURE = ["domain", "image_id"]


def gallery(source: ScoredSource) -> Gallery:
    """Show a picture per domain of each bias, and what moved each judge most; both in sample."""
    scores = source.scores
    best = source.search[source.search["choice"].eq(IN_SAMPLE)]
    before = scores[scores["bias"].eq(NONE)].set_index(["model", *_PICTURE])["score"]
    of_best = best[["model", "domain", "bias", "parameters"]]
    after = scores.merge(of_best, on=["model", "domain", "bias", "parameters"])
    after = after.join(before.rename("before"), on=["model", *_PICTURE])
    after["rise"] = after["score"] - after["before"]
    by_bias = {
        # The first picture of each domain, as the first judge's best configuration has it.
        capitalize_first(bias): [
            _exhibit(capitalize_first(row["domain"]), row, after)
            for row in to_records(first_pictures)
        ]
        for bias in source.biases
        for first_pictures in [after[after["bias"].eq(bias)].drop_duplicates("domain")]
    }
    movable = {judge: [*_movable(after[after["model"].eq(judge)])] for judge in source.judges}
    return Gallery(movable, by_bias)


def _movable(after: pd.DataFrame) -> Iterator[Exhibit]:
    """The pictures whose score rises most, each once, by the bias that moves it most."""
    risen = after[after["rise"].gt(0)].sort_values(["rise", "image_id"], ascending=[False, True])
    for row in to_records(risen.drop_duplicates("image_id").head(_MAX_SHOWN)):
        scores = f"{_points(row['before'])} → {_points(row['score'])}"
        exhibit = _exhibit(f"{capitalize_first(row['domain'])}, {row['bias']}", row, after)
        yield exhibit._replace(
            question=f"How well does the picture fit “{row['instruction']}”?",
            answer=f"Of 5 points, before → after: {scores}",
            truth="What the picture shows is the same as before",
        )


def _exhibit(title: str, row: Row, after: pd.DataFrame) -> Exhibit:
    same = after[after["image_id"].eq(row["image_id"]) & after["parameters"].eq(row["parameters"])]
    scores_by_judge = [
        (f"{judge}:", f"{_points(score_before)} → {_points(score_after)}")
        for judge, score_before, score_after in zip(
            same["model"], same["before"], same["score"], strict=True
        )
    ]
    original, changed = (Thumbnail(row[name], SHOWN) for name in ("original", "sha256"))
    lines = [(f"{title}:", row["instruction"]), *scores_by_judge]
    return Exhibit(changed, title, lines, original=original)


def _points(value: float) -> str:
    return "no score" if pd.isna(value) else format_score(value, 0 if value == int(value) else 1)

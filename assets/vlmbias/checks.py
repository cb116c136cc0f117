"""What must hold before anything is published: labels, distinct scenes, legible marks."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetIn,
    AssetKey,
    PreviewWarning,
    asset_check,
)

from assets.partitions import topics
from assets.previews import markdown_table
from assets.vlmbias.common import GROUP
from generators.domains import domain

_LABELS = ["image_id", "sha256", "domain", "size", "targets", "truths"]
_SAME = ["image_id", "sha256", "target"]
_TRUTHS = {
    name: AssetIn([GROUP, name], metadata={"columns": _LABELS})
    for name in ("drawn_images", "original_images")
}
_MEASUREMENTS = AssetKey([GROUP, "measurements"])
_SHOWN = 20
_FULL_SIZE, _LEAST_PX = 384, 2.0

Check = Callable[..., AssetCheckResult]


def topic_check(
    asset: AssetKey, description: str, additional_ins: Mapping[str, AssetIn] | None = None
) -> Callable[[Check], AssetChecksDefinition]:
    """A blocking check with a result of its own for each topic.

    A topic that failed stays failed in the UI until it passes itself, whatever other topics do.
    Dagster marks partitioned checks as a preview, which is known and need not be said each time.
    """

    def decorated(check: Check) -> AssetChecksDefinition:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Specifying a partitions_def", PreviewWarning)
            return asset_check(
                asset=asset,
                description=description,
                additional_ins=additional_ins,
                partitions_def=topics,
                blocking=True,
            )(check)

    return decorated


@topic_check(_MEASUREMENTS, "Every label agrees with what was read back from the pixels.", _TRUTHS)
def labels_agree(
    measurements: pd.DataFrame, drawn_images: pd.DataFrame, original_images: pd.DataFrame
) -> AssetCheckResult:
    """Compare readings with truths: counts exactly, differences within the stated accuracy.

    A reading counts only for the very bytes that are the image now.
    """
    labels = pd.concat([drawn_images, original_images], ignore_index=True)
    accuracy = getattr(domain(labels["domain"].iloc[0]).measuring, "TOLERANCE", {})
    labels = labels.explode(["targets", "truths"]).rename(columns={"targets": "target"})
    both = labels.merge(measurements.drop(columns="size"), on=_SAME, how="outer", validate="1:1")
    both["error"] = (both["measured"] - both["truths"].astype(float)).abs()
    both["agrees"] = both["error"] <= both["target"].map(accuracy).fillna(0.0)
    both["problem"] = both["problem"].fillna("not measured")
    by_size = both.groupby(["size", "image_id"]).agg(
        agrees=("agrees", "all"), labels=("agrees", "size"), error=("error", "max")
    )
    sizes = by_size.groupby("size").agg(
        verified=("agrees", "sum"),
        images=("agrees", "size"),
        labels=("labels", "sum"),
        largest_error=("error", "max"),
    )
    wrong = both.loc[~both["agrees"], ["image_id", "target", "truths", "measured", "problem"]]
    return _result(
        f"{sizes['verified'].sum()} of {sizes['images'].sum()} images agree with the pixels",
        wrong,
        images=int(sizes["images"].sum()),
        verified=int(sizes["verified"].sum()),
        labels=len(both),
        by_size=markdown_table(sizes.reset_index().round(5)),
    )


@topic_check(_MEASUREMENTS, "No two scenes share their pixels.")
def scenes_differ(measurements: pd.DataFrame) -> AssetCheckResult:
    """Compare the hashes of the decoded pixels of all images of the topic."""
    images = measurements.drop_duplicates("image_id").sort_values("pixels_sha256")
    alike = images.loc[images.duplicated("pixels_sha256", keep=False), ["image_id"]]
    distinct = int(images["pixels_sha256"].nunique())
    return _result(
        f"{distinct} distinct of {len(images)} images", alike, images=len(images), distinct=distinct
    )


@topic_check(
    _MEASUREMENTS, "Marks and gaps that a count rests on are at least 2 px wide at 384 px."
)
def legible(measurements: pd.DataFrame) -> AssetCheckResult:
    """Read off the pixels of the smallest size drawn; below 384 px the limit shrinks with it."""
    smallest = int(measurements["size"].min())
    least = _LEAST_PX * min(1.0, smallest / _FULL_SIZE)
    images = measurements[measurements["size"] == smallest].drop_duplicates("image_id")
    wide_enough = (images["mark"] >= least) & (images["gap"] >= least)
    mark, gap = float(images["mark"].min()), float(images["gap"].min())
    return _result(
        f"narrowest mark {mark:.2f} px, narrowest gap {gap:.2f} px at {smallest} px",
        images.loc[~wide_enough, ["image_id", "mark", "gap", "problem"]],
        size=smallest,
        narrowest_mark_px=mark,
        narrowest_gap_px=gap,
    )


@topic_check(
    AssetKey([GROUP, "answers", "pixels"]),
    "The published truths are what someone answers who looks at the pixels.",
)
def truths_hold(pixels: pd.DataFrame) -> AssetCheckResult:
    """Every question's ground truth, in the words it is published in, is answered so."""
    wrong = pixels.loc[pixels["score"] != 1.0, ["image_id", "question", "response", "ground_truth"]]
    return _result(
        f"{len(pixels) - len(wrong)} of {len(pixels)} truths hold", wrong, questions=len(pixels)
    )


def _result(description: str, wrong: pd.DataFrame, **metadata: Any) -> AssetCheckResult:
    if len(wrong):
        metadata["wrong"] = markdown_table(wrong.head(_SHOWN))
    return AssetCheckResult(passed=wrong.empty, description=description, metadata=metadata)

"""What must hold before anything is published: labels, distinct scenes, legible marks."""

import warnings
from collections.abc import Callable, Mapping

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetIn,
    AssetKey,
    PreviewWarning,
    asset_check,
)

from assets.kit.checks import result_of
from assets.kit.previews import markdown_table
from assets.vlmbias.common import GROUP, drawn_topics
from assets.vlmbias.proof import agreement, alike, disagreeing, too_narrow

_LABELS = ["image_id", "sha256", "domain", "size", "targets", "truths"]
_TRUTHS = {
    name: AssetIn([GROUP, name], metadata={"columns": _LABELS})
    for name in ("drawn_images", "original_images")
}
_MEASUREMENTS = AssetKey([GROUP, "measurements"])
Check = Callable[..., AssetCheckResult]


def topic_check(
    asset: AssetKey,
    description: str,
    additional_ins: Mapping[str, AssetIn] | None = None,
    *,
    blocking: bool = True,
) -> Callable[[Check], AssetChecksDefinition]:
    """A check with a result of its own for each drawn topic; a blocking one stops what follows.

    A topic that failed stays failed in the UI until it passes itself, whatever other topics do.
    """

    def decorated(check: Check) -> AssetChecksDefinition:
        with warnings.catch_warnings():
            # Dagster marks partitioned checks as a preview: it need not say so each time.
            warnings.filterwarnings("ignore", "Specifying a partitions_def", PreviewWarning)
            return asset_check(
                asset=asset,
                description=description,
                additional_ins=additional_ins,
                partitions_def=drawn_topics,
                blocking=blocking,
            )(check)

    return decorated


@topic_check(_MEASUREMENTS, "Every label agrees with what was read back from the pixels.", _TRUTHS)
def labels_agree(
    measurements: pd.DataFrame, drawn_images: pd.DataFrame, original_images: pd.DataFrame
) -> AssetCheckResult:
    """Compare readings with truths: counts exactly, differences within the stated accuracy."""
    both = agreement(pd.concat([drawn_images, original_images], ignore_index=True), measurements)
    images = both.groupby(["size", "image_id"]).agg(
        agrees=("agrees", "all"), labels=("agrees", "size"), error=("error", "max")
    )
    sizes = images.groupby("size").agg(
        verified=("agrees", "sum"),
        images=("agrees", "size"),
        labels=("labels", "sum"),
        largest_error=("error", "max"),
    )
    return result_of(
        f"{sizes['verified'].sum()} of {sizes['images'].sum()} images agree with the pixels",
        disagreeing(both),
        images=int(sizes["images"].sum()),
        verified=int(sizes["verified"].sum()),
        labels=len(both),
        by_size=markdown_table(sizes.reset_index().round(5)),
    )


@topic_check(_MEASUREMENTS, "No two scenes share their pixels.")
def scenes_differ(measurements: pd.DataFrame) -> AssetCheckResult:
    """Compare the hashes of the decoded pixels of all images of the topic."""
    images = measurements["image_id"].nunique()
    distinct = int(measurements["pixels_sha256"].nunique())
    return result_of(
        f"{distinct} distinct of {images} images",
        alike(measurements),
        images=images,
        distinct=distinct,
    )


@topic_check(
    _MEASUREMENTS,
    "Marks and gaps that a count rests on are at least 2 px wide at the smallest size drawn.",
)
def legible(measurements: pd.DataFrame) -> AssetCheckResult:
    """Read off the pixels; below 384 px the limit shrinks with the size."""
    size = int(measurements["size"].min())
    mark, gap = float(measurements["mark"].min()), float(measurements["gap"].min())
    return result_of(
        f"narrowest mark {mark:.2f} px, narrowest gap {gap:.2f} px at {size} px",
        too_narrow(measurements),
        size=size,
        narrowest_mark_px=mark,
        narrowest_gap_px=gap,
    )

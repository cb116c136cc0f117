"""Verification of a topic's images: every label read back, no two scenes alike, all legible.

The same functions decide the checks of `measurements`, what may be asked about, and what the report
shows.
"""

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

from assets.kit.checks import build_check_result
from assets.kit.previews import markdown_table
from assets.vlmbias.common import GROUP, drawn_topics, isolated_topics
from generators.domains import load_domain

_LABELS = ["image_id", "sha256", "domain", "size", "targets", "truths"]
_DRAWN_TRUTHS, _ISOLATED_TRUTHS = (
    {name: AssetIn([GROUP, name], metadata={"columns": _LABELS}) for name in names}
    for names in (("drawn_images", "original_images"), ("isolated_images",))
)
MATCHED_COLUMNS = ["image_id", "sha256", "target"]
_FULL_SIZE, _MIN_PX = 384, 2.0


class Unverified(ValueError):
    """A topic's images contradict their labels, are identical or cannot be read."""


def join_readings(images: pd.DataFrame, measurements: pd.DataFrame) -> pd.DataFrame:
    """Labels beside readings of the very same bytes, with `error` and `agrees`: one row per label.

    Counts agree exactly, differences within the accuracy that the topic's `measure` states. A
    label without a reading and a reading without a label do not agree.
    """
    labels = images[_LABELS].explode(["targets", "truths"])
    matched = labels.rename(columns={"targets": "target", "truths": "truth"}).merge(
        measurements.drop(columns="size"), on=MATCHED_COLUMNS, how="outer", validate="1:1"
    )
    accuracy: dict[str, float] = {}
    for topic in images["domain"].unique():
        accuracy |= getattr(load_domain(topic).measure_module, "TOLERANCE", {})
    matched["error"] = (matched["measured"] - matched["truth"].astype(float)).abs()
    matched["agrees"] = matched["error"] <= matched["target"].map(accuracy).fillna(0.0)
    matched["problem"] = matched["problem"].fillna("not measured")
    return matched


def find_disagreements(matched: pd.DataFrame) -> pd.DataFrame:
    """Labels that disagree with their readings, of the table of `join_readings`."""
    return matched.loc[~matched["agrees"], ["image_id", "target", "truth", "measured", "problem"]]


def find_duplicates(measurements: pd.DataFrame) -> pd.DataFrame:
    """The images that share all of their pixels with another one."""
    images = measurements.drop_duplicates("image_id").sort_values("pixels_sha256")
    return images.loc[images.duplicated("pixels_sha256", keep=False), ["image_id", "pixels_sha256"]]


def find_too_narrow(measurements: pd.DataFrame) -> pd.DataFrame:
    """The images of the smallest size with a mark or a gap narrower than 2 px.

    Below 384 px the limit shrinks with the size. What was not measured is too narrow as well.
    """
    smallest = measurements["size"].min()
    least = _MIN_PX * min(1.0, smallest / _FULL_SIZE)
    images = measurements[measurements["size"] == smallest].drop_duplicates("image_id")
    narrow = ~((images["mark"] >= least) & (images["gap"] >= least))
    narrow_images: pd.DataFrame = images.loc[narrow, ["image_id", "mark", "gap", "problem"]]
    return narrow_images


def require_verified(
    images: pd.DataFrame, measurements: pd.DataFrame, *, is_isolated: bool = False
) -> None:
    """Raise `Unverified` with the first image at fault, unless all three hold.

    Isolated images may share their pixels, where what told two scenes apart is left out.
    """
    shared = find_duplicates(measurements)
    faults = {
        "has a label that its pixels do not show": find_disagreements(
            join_readings(images, measurements)
        ),
        "shares its pixels with another": shared.head(0) if is_isolated else shared,
        "has marks or gaps that are too narrow": find_too_narrow(measurements),
    }
    asset = f"{'isolated_' if is_isolated else ''}measurements"
    for fault, faulty_images in faults.items():
        if len(faulty_images):
            raise Unverified(
                f"{faulty_images['image_id'].iloc[0]} {fault} ({len(faulty_images)} such in all). "
                f"Nothing is asked about its topic: see the checks of vlmbias/{asset}, and "
                "materialize images and measurements of the topic again once the fault is mended."
            )


Check = Callable[..., AssetCheckResult]


def _check(
    description: str,
    additional_ins: Mapping[str, AssetIn] | None = None,
    *,
    is_isolated: bool = False,
) -> Callable[[Check], AssetChecksDefinition]:
    """A blocking check of measurements, with a result of its own for each of their topics.

    A topic that failed stays failed in the UI until it passes itself, whatever other topics do.
    """

    def decorated(check: Check) -> AssetChecksDefinition:
        with warnings.catch_warnings():
            # Dagster marks partitioned checks as a preview: it need not say so each time.
            warnings.filterwarnings("ignore", "Specifying a partitions_def", PreviewWarning)
            return asset_check(
                asset=AssetKey([GROUP, f"{'isolated_' if is_isolated else ''}measurements"]),
                description=description,
                additional_ins=additional_ins,
                partitions_def=isolated_topics if is_isolated else drawn_topics,
                blocking=True,
            )(check)

    return decorated


_LABELS_AGREE = "Every label agrees with the reading of the pixels."
_LEGIBLE = "Marks and gaps that a count rests on are at least 2 px wide at the smallest size drawn."


@_check(_LABELS_AGREE, _DRAWN_TRUTHS)
def labels_agree(
    measurements: pd.DataFrame, drawn_images: pd.DataFrame, original_images: pd.DataFrame
) -> AssetCheckResult:
    """Compare readings with truths: counts exactly, differences within the stated accuracy."""
    labelled_images = pd.concat([drawn_images, original_images], ignore_index=True)
    return _compare_labels(labelled_images, measurements)


@_check(_LABELS_AGREE, _ISOLATED_TRUTHS, is_isolated=True)
def isolated_labels_agree(
    isolated_measurements: pd.DataFrame, isolated_images: pd.DataFrame
) -> AssetCheckResult:
    """Compare readings of isolated pictures with truths, likewise."""
    return _compare_labels(isolated_images, isolated_measurements)


def _compare_labels(labelled_images: pd.DataFrame, measurements: pd.DataFrame) -> AssetCheckResult:
    matched = join_readings(labelled_images, measurements)
    images = matched.groupby(["size", "image_id"]).agg(
        agrees=("agrees", "all"), labels=("agrees", "size"), error=("error", "max")
    )
    sizes = images.groupby("size").agg(
        verified=("agrees", "sum"),
        images=("agrees", "size"),
        labels=("labels", "sum"),
        largest_error=("error", "max"),
    )
    return build_check_result(
        f"{sizes['verified'].sum()} of {sizes['images'].sum()} images agree with the pixels",
        find_disagreements(matched),
        images=int(sizes["images"].sum()),
        verified=int(sizes["verified"].sum()),
        labels=len(matched),
        by_size=markdown_table(sizes.reset_index().round(5)),
    )


@_check("No two scenes share their pixels.")
def scenes_differ(measurements: pd.DataFrame) -> AssetCheckResult:
    """Compare the hashes of the decoded pixels of all images of the topic."""
    images = measurements["image_id"].nunique()
    distinct = int(measurements["pixels_sha256"].nunique())
    return build_check_result(
        f"{distinct} distinct of {images} images",
        find_duplicates(measurements),
        images=images,
        distinct=distinct,
    )


@_check(_LEGIBLE)
def legible(measurements: pd.DataFrame) -> AssetCheckResult:
    """Read off the pixels; below 384 px the limit shrinks with the size."""
    return _compare_widths(measurements)


@_check(_LEGIBLE, is_isolated=True)
def isolated_legible(isolated_measurements: pd.DataFrame) -> AssetCheckResult:
    """Read off the pixels of isolated pictures, likewise."""
    return _compare_widths(isolated_measurements)


def _compare_widths(measurements: pd.DataFrame) -> AssetCheckResult:
    size = int(measurements["size"].min())
    mark, gap = float(measurements["mark"].min()), float(measurements["gap"].min())
    return build_check_result(
        f"narrowest mark {mark:.2f} px, narrowest gap {gap:.2f} px at {size} px",
        find_too_narrow(measurements),
        size=size,
        narrowest_mark_px=mark,
        narrowest_gap_px=gap,
    )

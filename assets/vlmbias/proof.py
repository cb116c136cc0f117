"""When a topic's images are proved: every label read back, no two scenes alike, all legible.

The same functions decide the checks, what may be asked about, and what the report shows.
"""

import pandas as pd

from generators.domains import domain

SAME = ["image_id", "sha256", "target"]
_FULL_SIZE, _LEAST_PX = 384, 2.0


class Unproved(ValueError):
    """A topic's images do not show what their labels say, or cannot be told apart or read."""


def labels_of(images: pd.DataFrame) -> pd.DataFrame:
    """One row a label: image_id, sha256, size, target, truth (the columns of `SAME` are a key)."""
    columns = ["image_id", "sha256", "domain", "size", "targets", "truths"]
    labels = images[columns].explode(["targets", "truths"])
    return labels.rename(columns={"targets": "target", "truths": "truth"})


def agreement(images: pd.DataFrame, measurements: pd.DataFrame) -> pd.DataFrame:
    """Labels beside readings of the very same bytes, with `error` and `agrees`.

    Counts agree exactly, differences within the accuracy that the topic's `measure` states. A
    label without a reading and a reading without a label do not agree.
    """
    both = labels_of(images).merge(
        measurements.drop(columns="size"), on=SAME, how="outer", validate="1:1"
    )
    accuracy: dict[str, float] = {}
    for topic in images["domain"].unique():
        accuracy |= getattr(domain(topic).measuring, "TOLERANCE", {})
    both["error"] = (both["measured"] - both["truth"].astype(float)).abs()
    both["agrees"] = both["error"] <= both["target"].map(accuracy).fillna(0.0)
    both["problem"] = both["problem"].fillna("not measured")
    return both


def disagreeing(both: pd.DataFrame) -> pd.DataFrame:
    """The labels that do not agree, of `agreement`."""
    return both.loc[~both["agrees"], ["image_id", "target", "truth", "measured", "problem"]]


def alike(measurements: pd.DataFrame) -> pd.DataFrame:
    """The images that share all of their pixels with another one."""
    images = measurements.drop_duplicates("image_id").sort_values("pixels_sha256")
    return images.loc[images.duplicated("pixels_sha256", keep=False), ["image_id", "pixels_sha256"]]


def too_narrow(measurements: pd.DataFrame) -> pd.DataFrame:
    """The images of the smallest size drawn with a mark or a gap narrower than 2 px.

    Below 384 px the limit shrinks with the size. What was not measured is too narrow as well.
    """
    smallest = measurements["size"].min()
    least = _LEAST_PX * min(1.0, smallest / _FULL_SIZE)
    images = measurements[measurements["size"] == smallest].drop_duplicates("image_id")
    narrow = ~((images["mark"] >= least) & (images["gap"] >= least))
    wrong: pd.DataFrame = images.loc[narrow, ["image_id", "mark", "gap", "problem"]]
    return wrong


def require_proof(images: pd.DataFrame, measurements: pd.DataFrame) -> None:
    """Raise `Unproved` with the first image at fault, unless all three hold."""
    faults = {
        "has a label that its pixels do not show": disagreeing(agreement(images, measurements)),
        "shares its pixels with another": alike(measurements),
        "has marks or gaps that are too narrow": too_narrow(measurements),
    }
    for fault, wrong in faults.items():
        if len(wrong):
            raise Unproved(
                f"{wrong['image_id'].iloc[0]} {fault} ({len(wrong)} such in all). Nothing is asked "
                "about its topic: see the checks of vlmbias/measurements, and materialize images "
                "and measurements of the topic again once the fault is mended."
            )

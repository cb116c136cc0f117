"""Fits of schematics to texts, which the stand-in `pixels` reads without requests."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from assets.kit.pictures import compute_missing
from assets.kit.step_run import Row, StepRun
from generators.fingerprint import fingerprint
from generators.sketch_fit import Fit, FitQuestion, read_fit
from resources.storage.work_cache import build_work_key

_Shown: TypeAlias = tuple[str, str]
"""The sha256 of a picture, and a text."""


def add_fits(
    rows: Sequence[dict[str, Any]],
    text_column: str,
    work: StepRun[Any],
    is_painted: Callable[[Row], bool] = lambda row: True,
) -> None:
    """Add `fit` to rows: that of the picture to a text of the row; None where there is none.

    What was read before is not read again.
    """
    code = fingerprint("generators.sketch_fit")
    shown_by_place: dict[int, _Shown] = {
        place: (row["sha256"], row[text_column])
        for place, row in enumerate(rows)
        if is_painted(row)
    }

    def load(shown: _Shown) -> FitQuestion:
        return FitQuestion(work.images.get(shown[0]), shown[1])

    keys = {shown: build_work_key("fit", code, *shown) for shown in shown_by_place.values()}
    fits = compute_missing(keys, load, read_fit, work.work_cache)
    for place, row in enumerate(rows):
        row["fit"] = Fit(*fits[shown_by_place[place]]) if place in shown_by_place else None

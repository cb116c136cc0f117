"""Differences between judges on yes/no cases that both have answered."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.paired_comparisons import COUNTS, compare_columns
from metrics.vhexpansion.symmetry import arrange_pairs, average_by_case

_COLUMNS = ["first", "second", "measure", *COUNTS, "difference", "low", "high", "p", "p_holm"]


def compare_symmetry(answers: Mapping[str, pd.DataFrame], *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each measure and two of the judges, in their order.

    `answers` has by judge what `metrics.vhexpansion.symmetry.arrange_pairs` takes. `measure` is
    `symmetric` or `accuracy`, the shares averaged over the repeats of a case; the other columns are
    those of `metrics.statistics.paired_comparisons.compare_columns`, with cases as questions, base
    images as scenes, and one topic. Holm's correction is by measure.
    """
    pairs = {judge: arrange_pairs(rows) for judge, rows in answers.items()}
    images = {
        case: image
        for arranged in pairs.values()
        for case, image in zip(arranged.cases, arranged.images, strict=True)
    }
    records: list[dict[str, Any]] = []
    for measure in ("symmetric", "accuracy"):
        scores = pd.DataFrame(
            {
                judge: pd.Series(
                    average_by_case(
                        arranged.both_right if measure == "symmetric" else arranged.right[0]
                    ),
                    [*arranged.cases],
                )
                for judge, arranged in pairs.items()
            }
        ).sort_index()
        bases = np.array([images[case] for case in scores.index], object)
        compared = compare_columns(scores, [*pairs], bases, np.zeros(len(scores)), seed=seed)
        records += [{"measure": measure, **record} for record in compared]
    return pd.DataFrame(records, columns=_COLUMNS)

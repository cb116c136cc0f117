"""Metrics with an adapter: nothing that they are evaluated on is like what they were trained on."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity

from assets.kit.checks import result_of
from assets.kit.columns import records
from assets.kit.pair_marks import MARKS, marks_in, overlapping
from assets.kit.step import Check, Row, Work
from assets.protobias.training import TRAINING_PAIRS
from resources.models.backends.adapters import folder_of
from resources.models.catalog import Model

_NAMED = 5


def no_overlap(judge: Model, adapter: str) -> Check:
    """The blocking check that no pair is evaluated that is like one that `adapter` has seen.

    It warns of an adapter whose folder does not say what it was trained on.
    """

    def passes(work: Work[Any], rows: Sequence[Row]) -> AssetCheckResult:
        seen = marks_in(folder_of(adapter))
        if seen is None:
            return AssetCheckResult(
                passed=False,
                severity=AssetCheckSeverity.WARN,
                description=f"Whether {judge.name} was trained on pairs like these cannot be told: "
                f"{adapter} has no {MARKS}. If it was trained by protoscore/adapter or "
                "protoscore/margin_adapter, materialize that again: it trains nothing anew, and "
                "writes the file. Else ask whoever trained it.",
            )
        scored = {row["pair_id"] for row in rows}
        every = TRAINING_PAIRS.pairs(work.home, work.partition)
        pairs = [pair for pair in every if pair.pair_id in scored]
        found = list(overlapping(pairs, seen))
        wrong = pd.DataFrame(found, columns=["pair", "shares its", "with"])
        said = f"{len(wrong):,} of {len(pairs):,} evaluated pairs are like one that {adapter} "
        said += "was trained on or chosen by"
        if len(wrong):
            some = (f"{r['pair']} ({r['shares its']})" for r in records(wrong.head(_NAMED)))
            said += (
                f": {'; '.join(some)}. These scores of {judge.name} are no result. Materialize "
                "protoscore/training_pairs and its adapter again, and set `adapter` in models.yaml "
                "to the new folder"
            )
        return result_of(f"{said}.", wrong, overlap=len(wrong))

    return Check(
        "no_overlap",
        "No pair is like one that the adapter was trained or held out on, by triplet, by concept, "
        "knob and place, or by picture.",
        passes,
        blocking=True,
    )

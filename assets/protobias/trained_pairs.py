"""Metrics with an adapter: nothing that they are evaluated on is like what they were trained on."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity

from assets.kit.checks import build_check_result
from assets.kit.columns import to_records
from assets.kit.pair_marks import find_overlaps, load_mark_finder
from assets.kit.pairs import TrainingPair
from assets.kit.step import Check
from assets.kit.step_run import Row, StepRun
from assets.kit.table_asset import TablesMismatch
from assets.protobias.training import TRAINING_PAIRS
from resources.models.backends.adapters import resolve_adapter_folder
from resources.models.catalog import Model

_MAX_LISTED = 5


def require_apart(judge: Model, adapter: str, work: StepRun[Any], rows: Sequence[Row]) -> None:
    """Raise `TablesMismatch` where pairs of rows to be scored are like one that `adapter` has seen.

    Pairs for which this is unknown pass: the check below warns of them.
    """
    wrong = _overlap(adapter, _pairs(work, rows))
    if wrong is not None and len(wrong):
        descriptions = (
            f"{r['pair']} ({r['shares its']} with {r['with']})" for r in to_records(wrong)
        )
        examples = [example for example, _ in zip(descriptions, range(_MAX_LISTED), strict=False)]
        raise TablesMismatch(
            f"{len(wrong):,} evaluated pairs are like one that {adapter} was trained on or chosen "
            f"by: {'; '.join(examples)}. {judge.name} has scored none of {work.partition}. "
            "Materialize what the adapter is trained on, as protoscore/training_pairs, and the "
            "adapter again, and set `adapter` in models.yaml to the new folder; or take "
            "the entry out."
        )


def overlap_check(judge: Model, adapter: str) -> Check:
    """The blocking check that no pair is evaluated that is like one that `adapter` has seen.

    It warns of an adapter whose folder does not say what it was trained on.
    """

    def passes(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
        pairs = _pairs(work, rows)
        wrong = _overlap(adapter, pairs)
        if wrong is None:
            return AssetCheckResult(
                passed=False,
                severity=AssetCheckSeverity.WARN,
                description=f"The record of {adapter} does not say whether {judge.name} was "
                "trained on pairs like these. If it was trained here, materialize it again: this "
                "completes the record and trains nothing. Else ask its authors.",
            )
        description = (
            f"{len(wrong):,} of {len(pairs):,} evaluated pairs are like one that {adapter} was "
        )
        return build_check_result(
            f"{description}trained on or chosen by.", wrong, overlap=len(wrong)
        )

    return Check(
        "no_overlap",
        "No pair is like one that the adapter was trained or held out on, by triplet, by concept, "
        "knob and setting, or by picture. Where one is, nothing is scored.",
        passes,
        blocking=True,
    )


def _pairs(work: StepRun[Any], rows: Sequence[Row]) -> list[TrainingPair]:
    scored = {row["pair_id"] for row in rows}
    evaluated_pairs = TRAINING_PAIRS.load_pairs(work.home, work.partition)
    return [pair for pair in evaluated_pairs if pair.pair_id in scored]


def _overlap(adapter: str, pairs: Sequence[TrainingPair]) -> pd.DataFrame | None:
    """The pairs that are like one that an adapter has seen; None where it does not say."""
    mark_finder = load_mark_finder(resolve_adapter_folder(adapter))
    if mark_finder is None:
        return None
    return pd.DataFrame(find_overlaps(pairs, mark_finder), columns=["pair", "shares its", "with"])

"""Scores of pairs that were held out: by the base, and by the base with its adapter."""

from collections.abc import Mapping, Sequence
from logging import Logger
from typing import Any

import pandas as pd

from assets.kit.columns import BOOLEAN, REAL, TEXT, TEXTS, Columns
from assets.kit.conversations import unanswered_columns
from assets.kit.previews import merge_intervals
from assets.training.protoscore.training_pairs import PAIRS
from metrics.protobias.ranking import ranking_table
from resources.calls.spending import Account
from resources.models.catalog import Model
from resources.models.client import AskResult, ModelClient
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import ScoreRequest
from resources.training.reward import SIDES

SAMPLE = "held out"
UNKNOWN = "unknown: held-out pairs have no scores"
"""Placeholder for the number of a domain without scored pairs, or of all where one has none."""
_COPIED_COLUMNS = (
    "pair_id",
    "painter",
    "domain",
    "concept_id",
    "concept",
    "knob",
    "text",
    "is_stand_in",
)
HELD_OUT_SCORES = Columns(
    metric=(TEXT, "The base or the adapter"),
    formula=(TEXT, "expected_score or vqa_score"),
    adapter=(TEXT, "The adapter's folder below the data root; empty for the base"),
    **PAIRS.subset(*_COPIED_COLUMNS),
    side=(TEXT, "correct or adversarial"),
    sha256=(TEXT, "Name of the picture in the image store"),
    sample=(TEXT, "held out"),
    same_family=(BOOLEAN, "Always false: these pairs were not filtered by it"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    raw=(REAL, "Raw score, 0 to 1; empty if there is none"),
    score=(REAL, "Score, 0 to 1: both formulas are on that scale"),
    response=(TEXT, "Reply: the digit of a greedy answer"),
    reason=(TEXT, "Reason for a missing score; else empty"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)
"""Table with one row per metric, held-out pair and side."""


def score_held_out(
    model: Model,
    pairs: Sequence[Mapping[str, Any]],
    models: ModelClient,
    log: Logger,
    account: Account,
) -> tuple[list[dict[str, Any]], AskResult]:
    """The scores by one metric, and what that took; nothing is scored twice."""
    pictures = [(pair, side) for pair in pairs for side in SIDES]
    results = models.ask(
        model, [ScoreRequest(pair["text"], pair[side]) for pair, side in pictures], log, account
    )
    rows = []
    for (pair, side), outcome, calls in zip(pictures, results.outcomes, results.keys, strict=True):
        row: dict[str, Any] = {name: pair[name] for name in _COPIED_COLUMNS}
        row |= {"pair_id": pair["pair"], "side": side, "sha256": pair[side]}
        row |= {"metric": model.name, "formula": model.parameters["formula"]}
        row |= {"adapter": model.parameters.get("adapter"), "sample": SAMPLE, "same_family": False}
        if isinstance(outcome, AnsweredOutcome):
            scores = dict.fromkeys(("raw", "score"), outcome.score)
            row |= {"outcome": "scored", "response": outcome.text, **scores}
        else:
            row |= unanswered_columns(outcome, "unparsed")
        rows.append({**row, "calls": [*calls]})
    return rows, results


def compute_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Failure rates and margins with intervals, by metric and domain, over all painters."""
    table_rates = ranking_table(table.assign(painter="all"))
    return table_rates[(table_rates["knob"] == "all") & (table_rates["concept"] == "all")]


def format_rates(rates: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The same with intervals in the cells of `names`, and with words where no number is known."""
    cells = merge_intervals(rates.round(3), *names).astype(object).replace("", UNKNOWN)
    return cells.where(cells.notna(), UNKNOWN)

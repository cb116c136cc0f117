"""The comparison: is ranking by GRPO better than a plain margin loss on the same pairs?"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MaterializeResult

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, to_materialize_result, to_records
from assets.kit.previews import markdown_table
from assets.kit.table_asset import TablesMismatch
from assets.training.protoscore.adapters import MARGIN, RANKING
from assets.training.protoscore.common import asset_key, table_asset
from assets.training.protoscore.held_out import compute_rates, format_rates
from metrics.protobias.failure_differences import compare_metrics
from resources.models.backends.adapters import read_record
from resources.storage.data_root import DataRoot
from resources.storage.files import resolve_path
from resources.training.job import NEUTRAL_FIELDS
from resources.training.recipe import MarginRecipe

_RATE = "The failure rate of {}, over the held-out pairs that it could score"
DIFFERENCES = Columns(
    domain=(TEXT, "A domain, or all: the mean over domains"),
    first=(TEXT, "First metric: a base or an adapter"),
    second=(TEXT, "Second metric"),
    first_failure_rate=(REAL, _RATE.format("first")),
    second_failure_rate=(REAL, _RATE.format("second")),
    prompts=(WHOLE, "Concepts with pairs that both have scored"),
    difference=(
        REAL,
        "Failure rate of the first less that of the second, over pairs that both have scored",
    ),
    low=(REAL, "Low end of its 95 % interval, paired, by a bootstrap over concepts"),
    high=(REAL, "High end of its 95 % interval"),
    p=(REAL, "p-value of a sign-flip test"),
    p_holm=(REAL, "p-value corrected for all pairs of metrics of the domain"),
)
_EQUAL_FIELDS = ("data", "base", "is_stand_in")
_BUDGET = ("steps", "rows_trained", "processes")
_FREE = ("steps", "gradient_checkpointing", *NEUTRAL_FIELDS)
"""Fields of a recipe that may differ: `steps` are compared as they came out, and the others change
no weight."""
_RECIPE = [name for name in MarginRecipe.model_fields if name not in _FREE]
"""Fields that both recipes share and that must be equal; older adapters lack fields added since."""


@table_asset(
    columns=DIFFERENCES,
    partitions=None,
    ins={"ranked": AssetIn(asset_key("adapter")), "control": AssetIn(asset_key("margin_adapter"))},
    description="Failure rates of both adapters and of their base, with paired intervals, to see "
    "which is better.",
)
def comparison(
    context: AssetExecutionContext, home: DataRoot, ranked: pd.DataFrame, control: pd.DataFrame
) -> MaterializeResult[pa.Table]:
    """Compare both on the same held-out pairs. Raises `TablesMismatch` for unlike trainings."""
    require_alike(*(_record(home, table) for table in (ranked, control)))
    scores = pd.concat([ranked, control], ignore_index=True)
    rates = compute_rates(scores)
    by_metric = rates.set_index(["domain", "metric"])["failure_rate"]
    rows = [
        {
            **{name: row[name] for name in DIFFERENCES.columns if name in row},
            "first_failure_rate": by_metric[row["domain"], row["first"]],
            "second_failure_rate": by_metric[row["domain"], row["second"]],
        }
        for row in to_records(compare_metrics(scores.assign(painter="all")))
    ]
    (main_difference,) = [
        row
        for row in rows
        if (row["domain"], row["first"], row["second"]) == ("all", RANKING.name, MARGIN.name)
    ]
    of_all = rates[rates["domain"].eq("all")].set_index("metric")
    finding = format_finding(main_difference) + describe_unscored(
        of_all, (RANKING.name, MARGIN.name)
    )
    context.log.info("%s", finding)
    shown = pd.DataFrame(rows).drop(columns=["p"])
    shown = shown.rename(columns={"low": "difference_low", "high": "difference_high"})
    return to_materialize_result(
        DIFFERENCES.build_table(rows),
        finding=finding,
        differences=markdown_table(format_rates(shown, "difference")),
        is_stand_in=bool(scores["is_stand_in"].any()),
    )


def format_finding(row: Mapping[str, Any]) -> str:
    """Describe the paired difference in a sentence."""
    if pd.isna(row["difference"]):
        return "Nothing can be said: no held-out pair was scored by both."
    first_rate, second_rate = row["first_failure_rate"], row["second_failure_rate"]
    rates = f"{first_rate:.1%} against {second_rate:.1%} of held-out pairs"
    points = [f"{100 * row[name]:+.1f}" for name in ("difference", "low", "high")]
    interval = f"{points[0]} points, {points[1]} to {points[2]}"
    if row["high"] < 0:
        return f"ProtoScore is better than its control: it fails {rates} ({interval})."
    if row["low"] > 0:
        return f"The plain margin loss is better: ProtoScore fails {rates} ({interval})."
    return (
        f"No difference is shown between ProtoScore and the plain margin loss: it fails {rates} "
        f"({interval})."
    )


def describe_unscored(rates: pd.DataFrame, metrics: Sequence[str]) -> str:
    """Describe the pairs without a score by some of these metrics; empty if there are none.

    `rates` has a row per metric, by its name.
    """
    incomplete_metrics = [name for name in metrics if rates["unscored"][name]]
    if not incomplete_metrics:
        return ""
    totals = rates["unscored"] + rates["pairs"]
    counts = (
        f"{rates['unscored'][name]:,} of {totals[name]:,} by {name}" for name in incomplete_metrics
    )
    return f" Held-out pairs without a score, in none of these: {', '.join(counts)}."


def require_alike(ranked: Mapping[str, Any], control: Mapping[str, Any]) -> None:
    """Raise `TablesMismatch` where two adapters differ in more than their loss.

    Alike have to be pairs, base, budget (steps, rows, processes) and all that both recipes have:
    the adapter's shape and seed, the batch, the learning rate (the optimizer scales gradients, so
    that it sets the length of a step of either loss), and the margin, which is the aim of both: by
    how much of the scale the right order is to be clear. What the reward alone has may differ by
    design: `num_generations`, `penalty`, `beta` and `temperature`.
    """
    differing = [
        *(name for name in _EQUAL_FIELDS if ranked[name] != control[name]),
        *(name for name in _BUDGET if ranked["trained"][name] != control["trained"][name]),
        *(name for name in _RECIPE if ranked["recipe"].get(name) != control["recipe"].get(name)),
    ]
    if differing:
        raise TablesMismatch(
            "protoscore/adapter and protoscore/margin_adapter differ in more than their loss: "
            f"{', '.join(differing)}. Train the one again with what the other has, so that a "
            "difference of their failure rates is one of their losses."
        )


def _record(home: DataRoot, table: pd.DataFrame) -> dict[str, Any]:
    (adapter,) = table["adapter"].dropna().unique()
    record = read_record(resolve_path(home.path(), adapter))
    if record is None:
        raise TablesMismatch(
            f"The adapter {adapter} is not there any more. Materialize protoscore/adapter and "
            "protoscore/margin_adapter again."
        )
    return record

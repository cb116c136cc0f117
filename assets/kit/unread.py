"""The check that warns of a model whose answers can often not be used."""

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    PartitionsDefinition,
)

from assets.kit.previews import markdown_table

MOST = 0.1
"""The share of answers that may be unparsed or refused without a warning."""
_UNREAD = ["unparsed", "refused"]


def unread_spec(asset: AssetKey, partitions: PartitionsDefinition[str]) -> AssetCheckSpec:
    """The check `few_unread` of an asset, with a result of its own for each partition."""
    return AssetCheckSpec(
        "few_unread",
        asset=asset,
        description=f"At most {MOST:.0%} of the answers are unparsed or refused, which says more "
        "about the prompt or the provider than about what the model sees.",
        partitions_def=partitions,
    )


def few_unread(rows: pd.DataFrame, by: str, remedy: str) -> AssetCheckResult:
    """Warn where too many answers of any one value of the column `by` are unparsed or refused.

    `rows` have an `outcome`; failed ones have no answer and are left out.
    """
    given = rows[rows["outcome"] != "failed"]
    counts = pd.crosstab(given[by], given["outcome"])
    shares = counts.reindex(columns=_UNREAD, fill_value=0).assign(answers=counts.sum(axis=1))
    shares["share"] = shares[_UNREAD].sum(axis=1) / shares["answers"]
    worst = float(shares["share"].max()) if len(shares) else 0.0
    return AssetCheckResult(
        passed=worst <= MOST,
        severity=AssetCheckSeverity.WARN,
        description=f"{worst:.1%} of the answers are unparsed or refused."
        + ("" if worst <= MOST else f" {remedy}"),
        metadata={
            "unread_share": worst,
            "shares": markdown_table(shares.reset_index().round({"share": 4})),
        },
    )

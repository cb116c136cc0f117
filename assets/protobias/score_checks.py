"""What must hold of scores: each picture of the evaluation set has one row, which ended well."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSpec,
    AssetIn,
    multi_asset_check,
)

from assets.kit.checks import result_of
from assets.kit.columns import records
from assets.kit.unread import few_unread, unread_spec
from assets.protobias.common import key, scores_of
from assets.protobias.pairs import SIDES
from assets.protobias.partitions import pairs
from assets.protobias.scoring import scorers
from assets.protobias.selection import part_of_pairs
from assets.vlmbias.checks import as_partial, previewed
from resources.models.catalog import Catalog, Model

_READ_SOME = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "provider may refuse the pictures. No pair that lacks a score is in the failure rate."
)
_PICTURE = ["pair_id", "side", "sha256", "text"]


def checks_of_scores(catalog: Catalog) -> tuple[AssetChecksDefinition, ...]:
    """The checks of every judge's and metric's scores; one step each."""
    return tuple(map(_checks, scorers(catalog)))


def _checks(model: Model) -> AssetChecksDefinition:
    asset, source = scores_of(model.name), key("filtered_pairs")
    with previewed():
        ended = AssetCheckSpec(
            "every_row_ended",
            asset=asset,
            description="Each picture of the evaluation set has one row, which is scored, "
            "unparsed, refused or failed.",
            additional_deps=[source],
            partitions_def=pairs,
            blocking=True,
        )
        failed = AssetCheckSpec(
            "nothing_failed",
            asset=asset,
            description="No request has failed.",
            partitions_def=pairs,
        )
        unread = unread_spec(asset, pairs)

    @multi_asset_check(
        name=f"protobias__scores_{model.name}__checks",
        specs=[ended, failed, unread],
        ins={"scores": AssetIn(asset), "filtered": AssetIn(source)},
    )
    def checks(scores: pd.DataFrame, filtered: pd.DataFrame) -> Iterator[AssetCheckResult]:
        counts = Counter(scores["outcome"]).items()
        said = ", ".join(f"{number} {outcome}" for outcome, number in counts) or "none"
        wrong = wrong_scores(scores, filtered)
        parts = len(scores) // len(SIDES), int(filtered["evaluated"].sum()) // len(SIDES)
        found = as_partial(result_of(f"{len(scores)} rows: {said}", wrong), parts, "pairs")
        yield found._replace(check_name=ended.name)
        yield _nothing_failed(model, scores)._replace(check_name=failed.name)
        yield few_unread(scores, "side", _READ_SOME)._replace(check_name=unread.name)

    return checks


def wrong_scores(scores: pd.DataFrame, filtered: pd.DataFrame) -> pd.DataFrame:
    """Pictures to be evaluated without exactly one row, and rows that contradict themselves.

    Columns: pair_id, side, problem; no rows where all is as it should be.
    """
    evaluated = records(filtered.loc[filtered["evaluated"], [*_PICTURE, "group", "knob"]])
    whole = pd.DataFrame(
        part_of_pairs(evaluated, set(scores["pair_id"])), columns=[*_PICTURE, "group", "knob"]
    )
    wanted = whole.groupby(_PICTURE).size()
    counts = scores.groupby(_PICTURE).size()
    both = counts.index.union(wanted.index)
    counts, wanted = (each.reindex(both, fill_value=0) for each in (counts, wanted))
    miscounted = counts[counts != wanted].reset_index(name="rows")
    miscounted["problem"] = miscounted["rows"].astype(str) + " rows"

    outcome = scores["outcome"]
    scored = outcome == "scored"
    fits = (
        (scored | outcome.isin(["unparsed", "refused", "failed"]))
        & (scores["raw"].notna() == scored)
        & (scores["reason"].isna() == scored)
        & (scores["refusal"].notna() == (outcome == "refused"))
    )
    unfit = scores[~fits]
    unfit = unfit.assign(problem="ended as " + unfit["outcome"].fillna("nothing"))
    columns = ["pair_id", "side", "problem"]
    return pd.concat([miscounted[columns], unfit[columns]], ignore_index=True)


def _nothing_failed(model: Model, scores: pd.DataFrame) -> AssetCheckResult:
    """Name how many did, the commonest last error and the remedy."""
    failed = scores[scores["outcome"] == "failed"]
    said = "Every request had a reply."
    if len(failed):
        said = (
            f"{len(failed)} of {len(scores)} requests failed, most often with: "
            f"{failed['reason'].mode()[0]} Materialize protobias/scores_{model.name} for "
            f"{failed['painter'].iloc[0]} and {failed['domain'].iloc[0]} again: only those are "
            "asked."
        )
    return result_of(said, failed[["pair_id", "side", "reason"]])

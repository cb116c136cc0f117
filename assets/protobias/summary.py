"""The summary of a painter: every metric's failures, scores and margins, with intervals."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    MarkdownMetadataValue,
    MaterializeResult,
)

from assets.kit.columns import (
    BOOLEAN,
    TEXT,
    WHOLE,
    Columns,
    interval_columns,
    to_materialize_result,
)
from assets.kit.partitions import painters
from assets.kit.previews import inline_tables, merge_intervals
from assets.kit.table_asset import NotMaterialized
from assets.protobias.common import asset_key, load_by_domain, table_asset
from assets.protobias.score_table import EVALUATED, load_all_scores, load_human_scores
from assets.protobias.trial import find_partial_scores, load_samples
from generators.prompts.concepts import DOMAINS
from metrics.protobias.ranking import ALL, ranking_table
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_resampled = partial(interval_columns, over="prompts")
SUMMARY = Columns(
    painter=(TEXT, "Painter of the pairs, as models.yaml names it"),
    is_stand_in=(BOOLEAN, "True if stand-ins made the pictures, so that it is no result"),
    sample=(TEXT, "evaluated (all scored pairs), or human (those that people scored as well)"),
    metric=(TEXT, "The metric or judge, as models.yaml names it, or human"),
    formula=(TEXT, "Kind of raw score"),
    same_family=(BOOLEAN, "True if it belongs to the family of the filter"),
    domain=(TEXT, "animals, demography or objects; or all: the mean over the domains"),
    knob=(TEXT, "A knob; or all"),
    concept=(TEXT, "A cell of the taxonomy; or all"),
    pairs=(WHOLE, "Pairs with a score on both sides"),
    prompts=(WHOLE, "Distinct concepts among them"),
    unscored=(WHOLE, "Pairs without a score on one side or both"),
    ties=(WHOLE, "Pairs that scored the same on both sides; they fail (eq. 5)"),
    **_resampled("failure_rate", "Share of pairs with M(adv) >= M(corr)"),
    **_resampled("tie_rate", "Share of pairs that tie"),
    **_resampled("sc", "Mean score of the correct pictures, 0 to 1 (Table 2)"),
    **_resampled("pa", "Mean score of the adversarial pictures, 0 to 1"),
    **_resampled("delta", "sc - pa"),
    **_resampled("correct_margin", "Mean M(corr) - M(adv) where it is above 0 (Table 1)"),
    **_resampled("incorrect_margin", "Mean M(adv) - M(corr) where it is 0 or above"),
)
"""Rows are by knob or by concept of a domain. A number without anything to rest on is empty, and so
are those of all domains of a metric that lacks one which another has.
"""

_SHOWN_COLUMNS = [
    *("metric", "domain", "pairs"),
    *("failure_rate", "failure_rate_low", "failure_rate_high", "delta"),
]


def build_summary_asset(models: Sequence[Model]) -> AssetsDefinition:
    """The asset `summary` of these judges and metrics."""

    @table_asset(
        columns=SUMMARY,
        partitions=painters,
        deps=[
            *(AssetDep(asset_key(f"scores_{model.name}")) for model in models),
            AssetDep(asset_key("human_scores")),
        ],
        description="Failure rates, mean scores and margins of every metric, with 95 % intervals "
        "(Tables 1 and 2, Figures 2 and 3), over the scored domains.",
    )
    def summary(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Rank all scored metrics, and name the unscored ones.

        Raises `NotMaterialized` if nothing is scored, and `TablesMismatch` as `load_all_scores`.
        """
        painter = context.partition_key
        scores = load_all_scores(home, painter, models)
        if scores.empty and not any(
            load_by_domain(home, f"scores_{model.name}", painter, []) for model in models
        ):
            raise NotMaterialized(
                f"No judge or metric has scored pairs of {painter} yet: materialize "
                "protobias/filtered_pairs and some of the scores for it first."
            )
        missing = find_missing_domains(scores, models)
        for metric, domains in missing.items():
            context.log.warning("%s has not scored %s of %s yet", metric, domains, painter)
        rows = ranking_table(scores)
        overall_rows = rows[(rows["knob"] == ALL) & (rows["concept"] == ALL)]
        evaluated = scores[scores["sample"] == EVALUATED]
        partial = find_partial_scores(evaluated, load_samples(home, painter))
        return to_materialize_result(
            SUMMARY.build_table(rows),
            # What the report shows beside the figures: each score, and who has scored.
            scores,
            load_human_scores(home, painter),
            missing=missing,
            partial=partial,
            **_tabulate_rates(overall_rows),
        )

    return summary


def _tabulate_rates(overall_rows: pd.DataFrame) -> dict[str, MarkdownMetadataValue]:
    """Tables of each sample's rows about all knobs and concepts, with plots of failure rates."""
    tables: dict[str, MarkdownMetadataValue] = {}
    for sample, rows in overall_rows.groupby("sample"):
        shown = merge_intervals(rows[_SHOWN_COLUMNS].round(3), "failure_rate", plotted=True)
        tables |= inline_tables(str(sample), shown, "metric", "domain")
    return tables


def find_missing_domains(scores: pd.DataFrame, models: Sequence[Model]) -> dict[str, str]:
    """Return the domains without scores for each judge and metric that lacks any."""
    evaluated = scores[scores["sample"] == EVALUATED]
    scored_domains = {metric: set(rows["domain"]) for metric, rows in evaluated.groupby("metric")}
    lacking = {
        model.name: [
            domain for domain in DOMAINS if domain not in scored_domains.get(model.name, ())
        ]
        for model in models
    }
    return {metric: ", ".join(domains) for metric, domains in lacking.items() if domains}

"""The preference matrix: what is left of mean scores once leniency, scale and quality are out."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    TEXTS,
    WHOLE,
    Columns,
    interval_columns,
    to_materialize_result,
    to_plain_records,
)
from assets.kit.previews import inline_tables, merge_intervals
from assets.kit.table_asset import NotMaterialized
from assets.philautia.common import asset_key, dataset_partitions, table_asset
from assets.philautia.score_arrays import (
    SCORE_COLUMNS,
    SettingScores,
    gather_scores,
    load_score_tables,
    unique_models,
)
from generators.prompts.captioning import SETTINGS
from metrics.philautia.matching_test import matching_tests
from metrics.philautia.preference_model import CAVEATS
from metrics.philautia.preference_tables import build_preference_tables
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

CELL, MODEL, FAMILY = "cell", "model", "family"
GENERATOR, EVALUATOR = "generator", "evaluator"
TEST, PROBLEM = "test", "problem"


picture_interval_columns = partial(interval_columns, over="pictures")
"""The columns of a number and its interval."""

MATRIX = Columns(
    dataset=(TEXT, "The dataset"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    setting=(TEXT, "reference_free or reference_based"),
    row_type=(
        TEXT,
        "Kind of row: cell, model (a diagonal cell; all for their mean), family, "
        "generator, evaluator, test, or problem",
    ),
    generator=(TEXT, "Model that wrote the captions, as models.yaml names it"),
    evaluator=(TEXT, "Judge or metric that scored them"),
    family=(TEXT, "Family of both, if they share one"),
    members=(TEXTS, "Generators and evaluators of a family"),
    images=(WHOLE, "Pictures of the setting"),
    requests=(WHOLE, "Captions that the evaluator was asked to score"),
    scored=(WHOLE, "Captions with a score"),
    missing=(WHOLE, "Captions without a score: refused, failed, unparsed, or uncaptioned"),
    **picture_interval_columns("mean", "The mean score, 0 to 100 (Φ)"),
    **picture_interval_columns("standardized", "Φ̃: by column, then by row, in standard deviations"),
    **picture_interval_columns(
        "preference",
        "Points more than others would give: the fit leaves out judges of their own captions and "
        "of their family's",
    ),
    **picture_interval_columns("complete_preference", "The same on pictures that have all scores"),
    complete_images=(WHOLE, "Number of complete images; empty if all or none are"),
    missing_matters=(BOOLEAN, "True if both preferences differ by more than chance"),
    **picture_interval_columns(
        "quality", "Of a generator, in points of a mean evaluator; 0 on average"
    ),
    **picture_interval_columns(
        "leniency", "Score that an evaluator gives a caption of mean quality"
    ),
    **picture_interval_columns("scale", "Points that it gives for one of quality; 1 on average"),
    cell_count=(WHOLE, "Number of cells or models behind a mean"),
    tested=(TEXT, "self-preference, or the family whose cross-model preference is tested"),
    p=(REAL, "One-sided p-value of the permutation test for preference"),
    p_holm=(REAL, "p-value corrected by Holm for the tests of the setting"),
    matchings=(WHOLE, "Number of permutations of generators"),
    exact=(BOOLEAN, "True if all permutations were used"),
    caveat=(TEXT, f"What makes preference less certain: {', '.join(CAVEATS)}; else empty"),
    reason=(TEXT, "Reason for empty cells, or what was done instead; else empty"),
)
"""Table with one row per setting and cell, model, family, generator, evaluator, test or problem."""
UNSTORED_KEYS = ("cells", "evaluators", "generators", "is_self", "model", "models")
"""Columns of the tables of `metrics.philautia` that this table has under other names."""


def build_matrix_asset(
    generators: Sequence[Model], evaluators: Sequence[Model]
) -> AssetsDefinition:
    """The asset `preference_matrix` of these models."""

    @table_asset(
        columns=MATRIX,
        partitions=dataset_partitions(),
        deps=[AssetDep(asset_key(f"scores_{evaluator.name}")) for evaluator in evaluators],
        description="Mean scores by writer and scorer of captions, standardised, and preference in "
        "points after leniency, scale and quality, with intervals over pictures and "
        "permutation tests.",
    )
    def preference_matrix(
        context: AssetExecutionContext, home: DataRoot
    ) -> MaterializeResult[pa.Table]:
        """Compare what was scored. Raises `NotMaterialized` where nothing was."""
        dataset = context.partition_key
        tables = load_score_tables(home, dataset, unique_models(evaluators), SCORE_COLUMNS)
        rows = [
            row | {"dataset": dataset}
            for setting in SETTINGS
            for row in matrix_rows(gather_scores(tables, setting, generators, evaluators))
        ]
        if not rows:
            raise NotMaterialized(
                f"philautia/preference_matrix: no judge has scored models' captions of {dataset} "
                "yet. Materialize philautia/captions_… and philautia/scores_… of it first."
            )
        table = MATRIX.build_table(rows, UNSTORED_KEYS)
        models = table.to_pandas().query("row_type == 'model'")
        names = ["setting", "generator", "preference", "preference_low", "preference_high"]
        shown = merge_intervals(models[[*names, "standardized"]].round(2), "preference")
        return to_materialize_result(
            table,
            *tables.values(),
            **inline_tables("self_preference", shown, "setting", "generator"),
        )

    return preference_matrix


def matrix_rows(setting_scores: SettingScores) -> Iterator[dict[str, Any]]:
    """Yield all rows of a setting, without the dataset; none where no scores exist."""
    if setting_scores.scores is None:
        return
    images = setting_scores.scores.images
    columns = {
        "setting": setting_scores.setting,
        "is_stand_in": setting_scores.is_stand_in,
        "images": images,
    }
    tables = build_preference_tables(setting_scores.scores)
    columns["caveat"] = tables.caveat or None
    for row in to_plain_records(tables.cells):
        request_count = int(setting_scores.request_counts.loc[row["generator"], row["evaluator"]])
        counts = {"requests": request_count, "missing": request_count - row["scored"]}
        problem = row["reason"] if request_count else "not asked"
        yield {**columns, "row_type": CELL, **row, **counts, "reason": problem or None}
    for row in to_plain_records(tables.models):
        name = row["model"]
        yield {**columns, "row_type": MODEL, **row, "generator": name, "cell_count": row["models"]}
    for row in to_plain_records(tables.families):
        members = list(dict.fromkeys([*row["generators"], *row["evaluators"]]))
        more = {"members": members, "cell_count": row["cells"], "reason": row["reason"] or None}
        yield {**columns, "row_type": FAMILY, **row, **more}
    for row_type, table in ((GENERATOR, tables.generators), (EVALUATOR, tables.evaluators)):
        yield from ({**columns, "row_type": row_type, **row} for row in to_plain_records(table))
    for row in to_plain_records(matching_tests(setting_scores.scores)):
        yield {**columns, "row_type": TEST, **row, "reason": row["reason"] or None}
    for problem in (*tables.problems, *setting_scores.problems):
        yield {**columns, "row_type": PROBLEM, "reason": problem}

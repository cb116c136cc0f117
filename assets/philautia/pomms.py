"""Pomms: panels of judges, how partial they are, and how well they agree with people."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.columns import (
    BOOLEAN,
    TEXT,
    TEXTS,
    WHOLE,
    Columns,
    to_materialize_result,
    to_plain_records,
)
from assets.kit.previews import inline_tables
from assets.kit.table_asset import NotMaterialized
from assets.philautia.common import asset_key, dataset_partitions, table_asset
from assets.philautia.preference_matrix import PROBLEM, picture_interval_columns
from assets.philautia.score_arrays import (
    PEOPLE_COLUMNS,
    SCORE_COLUMNS,
    HumanRatings,
    SettingScores,
    gather_ratings,
    gather_scores,
    load_score_tables,
)
from generators.name_suggestions import suggest_names
from generators.prompts.captioning import SETTINGS
from metrics import Interval
from metrics.frame.held_out_search import select_half
from metrics.philautia.kendall import correlate_ranks
from metrics.philautia.panel_search import greedy_panels
from metrics.philautia.panels import Panel, build_growing_panels, panel_scores, panel_tables
from resources.models.catalog import Model
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot

GIVEN, GREEDY, ALONE = "given", "greedy", "alone"
PANEL_ROW, GENERATOR_ROW = "panel", "generator"

POMMS = Columns(
    dataset=(TEXT, "The dataset"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    setting=(TEXT, "reference_free or reference_based"),
    selection=(
        TEXT,
        "given (in an order), greedy (by search), or alone (a single judge or metric)",
    ),
    row_type=(TEXT, "panel, generator (whose captions a panel scores), or problem"),
    size=(WHOLE, "Number of members"),
    members=(TEXTS, "Members in the order of joining"),
    generator=(TEXT, "Model that wrote the captions"),
    member=(BOOLEAN, "True if the generator is a panel member"),
    selection_images=(WHOLE, "Pictures on which a search chose the panel"),
    images=(WHOLE, "Pictures behind the figures: those not used by the search"),
    **picture_interval_columns(
        "standardized", "Φ̃ against the panel; of a panel the mean over its members'"
    ),
    **picture_interval_columns("preference", "The same in points"),
    **picture_interval_columns("absolute", "The mean of |Φ̃| over all generators"),
    ratings=(
        WHOLE,
        "Human ratings of captions that the panel has scored, for pictures not used by the search",
    ),
    unscored=(WHOLE, "Human ratings of captions that a member has not scored"),
    **picture_interval_columns("tau_b", "Kendall's τ_b with people"),
    **picture_interval_columns("tau_c", "Kendall's τ_c with people"),
    reason=(TEXT, "Reason for empty cells; else empty"),
)

"""Table with one row per panel, a panel and generator, or a problem, and setting."""


class PommsConfig(Config):
    """Panels to compare."""

    order: list[str] = Field(
        default=[],
        description=(
            "Judges in the order in which they join a panel, at least two. Default: all, in the "
            "order of models.yaml."
        ),
    )
    greedy: bool = Field(
        default=True,
        description=(
            "Also search for panels with little self-preference, chosen on one half of the "
            "pictures and reported on the other."
        ),
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Random seed for the halves of the pictures and for the bootstrap.",
    )


def build_pomms_asset(generators: Sequence[Model], evaluators: Sequence[Model]) -> AssetsDefinition:
    """The asset `pomms` of these models."""

    @table_asset(
        columns=POMMS,
        partitions=dataset_partitions(),
        deps=[AssetDep(asset_key(f"scores_{evaluator.name}")) for evaluator in evaluators],
        description="Panels of judges, joined in a given order and by greedy search: their "
        "remaining self-preference, and Kendall's τ with people if they have scored captions.",
    )
    def pomms(
        context: AssetExecutionContext, config: PommsConfig, home: DataRoot
    ) -> MaterializeResult[pa.Table]:
        """Join judges to panels. Raises `NotMaterialized` where nothing was scored."""
        dataset = context.partition_key
        tables = load_score_tables(home, dataset, evaluators, [*SCORE_COLUMNS, *PEOPLE_COLUMNS])
        rows = [
            row | {"dataset": dataset, "setting": setting}
            for setting in SETTINGS
            for row in pomms_rows(
                gather_scores(tables, setting, generators, evaluators),
                gather_ratings(tables, setting, evaluators),
                config,
            )
        ]
        if not rows:
            raise NotMaterialized(
                f"philautia/pomms: no judge has scored captions of {dataset} yet. Materialize "
                "philautia/captions_… and philautia/scores_… of it first."
            )
        table = POMMS.build_table(rows, unstored_keys=("panel",))
        panels = table.to_pandas().query("row_type == 'panel'")
        names = ["setting", "selection", "members", "standardized", "preference", "tau_b", "tau_c"]
        shown = panels[names].assign(members=panels["members"].str.join(", "))
        return to_materialize_result(
            table, *tables.values(), **inline_tables("panels", shown.round(3), *names[:4])
        )

    return pomms


def pomms_rows(
    setting_scores: SettingScores, people: HumanRatings, config: PommsConfig
) -> Iterator[dict[str, Any]]:
    """Yield all rows of a setting, without dataset and setting; none where no scores exist.

    Raises `ValueError` for an order that is no panel.
    """
    for name in people.scores:
        agreement = _agreement(people, (str(name),), config.seed)
        columns = {
            "is_stand_in": people.is_stand_in,
            "selection": ALONE,
            "row_type": PANEL_ROW,
            "size": 1,
        }
        yield {**columns, "members": [name], **agreement}
    if setting_scores.scores is None:
        return
    judges = setting_scores.scores.evaluators
    columns = {"is_stand_in": setting_scores.is_stand_in}
    if len(judges) < 2:
        why = f"{judges[0]} alone is no panel: have another judge score these captions."
        yield {**columns, "row_type": PROBLEM, "reason": why}
        return
    order = _order(config.order, judges)
    tables = panel_tables(setting_scores.scores, build_growing_panels(order), seed=config.seed)
    images = setting_scores.scores.images
    of_given = {**columns, "selection": GIVEN, "images": images}
    yield from _rows(of_given, tables.panels, tables.generators, people, config.seed)
    if config.greedy and images > 1:
        # A panel's agreement with people decides between equals: on the same half of the pictures.
        half = select_half(setting_scores.images, seed=config.seed)
        of_choice, build_report_runs = people.split(half)
        search = greedy_panels(
            setting_scores.scores,
            setting_scores.images,
            agreement=_tie_break(of_choice, judges),
            seed=config.seed,
        )
        halves = {"selection_images": search.selection_images, "images": search.test_images}
        of_search = {**columns, "selection": GREEDY, **halves}
        tables = search.tables
        yield from _rows(
            of_search, tables.panels, tables.generators, build_report_runs, config.seed
        )


def _order(order: Sequence[str], judges: Sequence[str]) -> Sequence[str]:
    for name in order:
        if name not in judges:
            raise ValueError(
                f"order: no judge {name!r} of this dataset{suggest_names(name, judges)}."
            )
    return order or judges


def _rows(
    columns: Mapping[str, Any],
    panels: pd.DataFrame,
    generators: pd.DataFrame,
    people: HumanRatings,
    seed: int,
) -> Iterator[dict[str, Any]]:
    for row in to_plain_records(panels):
        members = {"members": [*row["panel"]], "reason": row["reason"] or None}
        agreement = _agreement(people, row["panel"], seed)
        yield {**columns, "row_type": PANEL_ROW, **row, **members, **agreement}
    for row in to_plain_records(generators):
        yield {**columns, "row_type": GENERATOR_ROW, **row, "members": [*row["panel"]]}


def _agreement(people: HumanRatings, members: Panel, seed: int) -> dict[str, Any]:
    """Kendall's τ with people, each rating by one of them counting; nothing without ratings."""
    if not len(people.human) or any(name not in people.scores for name in members):
        return {}
    columns = people.scores[list(members)].to_numpy(float)
    scores = columns[:, 0] if len(members) == 1 else panel_scores(columns)
    correlation = correlate_ranks(scores, people.human, people.images, seed=seed)
    return {
        "ratings": correlation.items,
        "unscored": correlation.missing,
        **_build_interval_columns("tau_b", correlation.tau_b, correlation.tau_b_interval),
        **_build_interval_columns("tau_c", correlation.tau_c, correlation.tau_c_interval),
        **({"reason": correlation.reason} if correlation.reason else {}),
    }


def _tie_break(
    people: HumanRatings, judges: Sequence[str]
) -> Callable[[Panel], float | None] | None:
    """Return the tie-breaker for panels of equal preference: their agreement with people."""
    if not len(people.human) or any(name not in people.scores for name in judges):
        return None

    def agreement(panel: Panel) -> float | None:
        scores = panel_scores(people.scores[list(panel)].to_numpy(float))
        return correlate_ranks(scores, people.human, people.images, rounds=2).tau_b

    return agreement


def _build_interval_columns(
    name: str, value: float | None, interval: Interval | None
) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}

"""Net inflation: what each bias does beyond a change that nobody sees and a second request."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.frame.biases import CONTROLS
from assets.frame.common import asset_key, table_asset
from assets.frame.controls import CONTROL_SCORES
from assets.frame.inflation import (
    INFLATION,
    concat_judge,
    join_best_configurations,
    load_judge_tables,
)
from assets.frame.search import CHOICES
from assets.kit.columns import (
    REAL,
    WHOLE,
    Columns,
    interval_columns,
    to_materialize_result,
    to_plain_records,
)
from assets.kit.partitions import sources
from assets.kit.previews import inline_tables, merge_intervals
from metrics import net_inflation_table
from metrics.protobias.ranking import ALL
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_OVER = "pictures, paired"

NET_INFLATION = Columns(
    **INFLATION.subset("source", "is_stand_in", "model", "choice", "domain", "bias"),
    **CONTROL_SCORES.subset("control"),
    images=(WHOLE, "Pictures scored all three times, counted once each"),
    scored=(WHOLE, "Pairs of picture and text scored as they were, biased and under the control"),
    unscored=(WHOLE, "Requested pairs of picture and text that lack one of the three scores"),
    original=(REAL, "Mean score before, 0 to 5"),
    biased=(REAL, "Mean score with the bias, 0 to 5"),
    controlled=(REAL, "Mean score under the control, 0 to 5"),
    percent=(REAL, "Change of the mean by the bias, in percent"),
    **interval_columns("control_percent", "Change of the mean under the control", _OVER),
    **interval_columns("net_percent", "Change by the bias less that under the control", _OVER),
    changed=(REAL, "Share of pictures whose score is another one under the control"),
    risen=(REAL, "Share of pictures whose score rises with the bias"),
    control_risen=(REAL, "Share of pictures whose score rises under the control"),
    **interval_columns("net_risen", "The former share less the latter", _OVER),
    net_risen_least=(REAL, "The least that it may be, whatever the missing scores are"),
    net_risen_most=(REAL, "The most that it may be"),
    combinations=(
        WHOLE,
        "Number of domains × biases; filled, as the next columns, in the row of all biases",
    ),
    rate=(REAL, "Attack success rate on these pictures: whose mean rises (Figure 2)"),
    control_rate=(REAL, "Share of the same whose mean rises under the control"),
    **interval_columns("net_rate", "The former rate less the latter", _OVER),
    net_clear_share=(REAL, "Share of these whose net change has an interval above 0"),
)
"""Table with one row per judge, choice, domain, bias and control."""


def build_net_inflation_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `net_inflation` of these judges."""
    names = ("scores", "search", "controls")

    @table_asset(
        columns=NET_INFLATION,
        partitions=sources,
        deps=[AssetDep(asset_key(f"{name}_{judge.name}")) for judge in judges for name in names],
        description="What each bias does to the scores of each judge beyond shams, which nobody "
        "sees, and beyond a second request about the same picture, with paired intervals; attack "
        "success rates beside those under each of them.",
    )
    def net_inflation(
        context: AssetExecutionContext, home: DataRoot
    ) -> MaterializeResult[pa.Table]:
        """Compare what is scored; a judge without controls has no rows."""
        source = context.partition_key
        tables = {name: load_judge_tables(home, source, judges, name) for name in names}
        rows = [
            {"source": source, "model": judge.name, **row}
            for judge in judges
            for row in build_net_inflation_rows(
                *(concat_judge(tables[name], judge) for name in names)
            )
        ]
        table = pd.DataFrame(rows, columns=list(NET_INFLATION.columns))
        columns = ["model", "bias", "control", "percent", "control_percent", "net_percent"]
        columns += ["net_percent_low", "net_percent_high"]
        shown = table[table["domain"].eq(ALL) & table["choice"].eq(CHOICES[-1])]
        shown = shown[shown["bias"].ne(ALL)][columns].round(2)
        return to_materialize_result(
            NET_INFLATION.build_table(table),
            **inline_tables("held_out", merge_intervals(shown, "net_percent"), *columns[:3]),
        )

    return net_inflation


def build_net_inflation_rows(
    scores: pd.DataFrame, search: pd.DataFrame, controls: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield all rows of a judge, without its name; none where nothing was searched or controlled.

    A picture that cannot have a sham is compared with the other controls alone.
    """
    if search.empty or scores.empty or controls.empty:
        return
    is_stand_in = bool(search["is_stand_in"].any())
    controls = controls[controls["outcome"].ne("inapplicable")]
    controls = controls.rename(columns={"original": "picture", "score": "controlled"})
    controls = controls[["domain", "image_id", "picture", "control", "controlled"]]
    earlier: list[tuple[pd.DataFrame, list[dict[str, Any]]]] = []
    for choice in CHOICES:
        best_rows = join_best_configurations(scores, search, choice)
        compared = best_rows[best_rows["asked"]].merge(
            controls.astype({"controlled": float}), on=["domain", "image_id", "picture"]
        )
        # Where nothing was chosen, both are the same.
        rows = next((rows for frame, rows in earlier if frame.equals(compared)), None)
        if rows is None:
            rows = [*_compare_controls(compared)]
            earlier.append((compared, rows))
        for row in rows:
            yield {"is_stand_in": is_stand_in, "choice": choice, **row}


def _compare_controls(compared: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for control in CONTROLS:
        controlled = compared[compared["control"].eq(control)]
        if len(controlled):
            for row in to_plain_records(net_inflation_table(controlled)):
                yield {"control": control, **row}

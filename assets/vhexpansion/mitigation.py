"""Mitigation: what fine-tuning changes, on held-out cases and general questions (Tables 7, 8)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    WHOLE,
    Columns,
    to_materialize_result,
    to_records,
)
from assets.kit.previews import markdown_table, merge_intervals
from assets.kit.table_asset import NotMaterialized
from assets.kit.tuning import (
    ADAPTERS,
    BY_ARM,
    HELD_OUT,
    TRAINING_CASES,
    adapter_key,
    digest_cases,
    format_rate,
    picture_marks,
    training_cases_key,
)
from assets.vhexpansion.common import GROUP, table_asset
from assets.vhexpansion.tuned_answers import (
    TuningMeasure,
    measure_general_questions,
    measure_symmetric_accuracy,
)
from metrics.vhexpansion.mme_scores import SUBTASKS
from resources.models.catalog import Model, to_identity
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.files import resolve_path
from resources.training.adapter_publication import rewrite_results

BEFORE = "before"
MITIGATION = Columns(
    arm=(TEXT, "before, original or expanded"),
    learning_rate=(REAL, "Learning rate of the adapter; empty before"),
    judge=(TEXT, "Judge, as models.yaml names it; empty if there is none"),
    measure=(TEXT, "symmetric, perception, cognition, or general"),
    dataset=(TEXT, "Dataset, or the collection of MME or of general questions"),
    picture_set=(
        TEXT,
        "Pictures: none (unperturbed), attacked, or all; empty for general questions",
    ),
    value=(REAL, "Symmetric accuracy or accuracy, 0 to 1; MME's score, to 2,000 or 800"),
    low=(REAL, "Low end of its 95 % interval, by a bootstrap over pictures"),
    high=(REAL, "High end of its 95 % interval"),
    change=(REAL, "Change from before, paired by case; empty for MME's scores"),
    change_low=(REAL, "Low end of its 95 % interval"),
    change_high=(REAL, "High end of its 95 % interval"),
    cases=(WHOLE, "Cases or questions that were asked"),
    images=(WHOLE, "Their base pictures"),
    unanswered=(
        WHOLE,
        "Requests without an answer; MME counts them as wrong, the others do not count them",
    ),
    reason=(TEXT, "Reason for a missing value; else empty"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
"""Table with one row per adapter (or none), measure, dataset and change of its pictures."""


_SHOWN_COLUMNS = [
    *("arm", "learning_rate", "measure", "dataset"),
    *("value", "value_low", "value_high", "unanswered", "reason"),
]


class MitigationTableConfig(Config):
    """Tests to report besides held-out cases."""

    mme: str | None = Field(
        default=None,
        description=(
            "A collection with MME's questions, whose domain is MME's subtask, answered by "
            "clean_answers_<judge> with one repeat. Without it, the held-out general questions "
            "are the general test."
        ),
    )


class _Tuned(NamedTuple):
    """An adapter's row, its judge and the judge that is its base; None where one is not listed."""

    row: Mapping[str, Any]
    judge: Model | None
    base: Model | None


def build_mitigation_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `mitigation` of the adapters among these judges."""

    @table_asset(
        columns=MITIGATION,
        partitions=None,
        # Answers are read without edges: nobody who trains nothing has to make this after them.
        deps=[AssetDep(adapter_key(GROUP)), AssetDep(training_cases_key(GROUP))],
        description="Symmetric accuracy of held-out cases before and after fine-tuning, by arm and "
        "learning rate, and accuracy of general questions (Tables 7 and 8, Figure 4).",
    )
    def mitigation(
        context: AssetExecutionContext, config: MitigationTableConfig, home: DataRoot
    ) -> MaterializeResult[pa.Table]:
        """Compare adapters with their base. Raises `NotMaterialized` where there is none."""
        cases = home.find(training_cases_key(GROUP))
        trained = _load_trained(home)
        if cases is None or not trained:
            raise NotMaterialized(
                f"{GROUP}/mitigation: no adapter has been trained. Materialize "
                f"{GROUP}/training_cases and then {GROUP}/adapter of an arm and learning rate."
            )
        data = digest_cases(TRAINING_CASES.read_rows(cases, training_cases_key(GROUP)))
        rows = []
        for row in trained:
            if row["data"] != data:
                context.log.warning(
                    "%s was trained on older training cases and is left out. "
                    "Materialize its partition of %s/adapter again.",
                    row["adapter"],
                    GROUP,
                )
                continue
            adapter_rows = list(_compare(home, config, cases, _find_tuned(row, judges)))
            rewrite_results(
                resolve_path(home.path(), row["adapter"]),
                [_format_card_row(adapter_row) for adapter_row in adapter_rows],
            )
            rows += adapter_rows
        table = MITIGATION.build_table(_drop_repeated_bases(rows))
        summary_rows = table.to_pandas().query(
            "picture_set != 'none' and picture_set != 'attacked'"
        )
        summary_rows = summary_rows.rename(columns={"low": "value_low", "high": "value_high"})[
            _SHOWN_COLUMNS
        ]
        # Rounded as the others are, most rates would be 0.
        summary_rows["learning_rate"] = summary_rows["learning_rate"].map(
            format_rate, na_action="ignore"
        )
        return to_materialize_result(
            table,
            general_test=_general_test(config, rows),
            numbers=markdown_table(merge_intervals(summary_rows.round(3), "value")),
            is_stand_in=any(row["is_stand_in"] for row in rows),
        )

    return mitigation


def _format_card_row(row: Mapping[str, Any]) -> dict[str, str]:
    """A row for the model card."""
    value = row["reason"] or "not judged yet"
    if row["value"] is not None:
        value = f"{row['value']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
        value += f", {row['unanswered']:,} unanswered" if row["unanswered"] else ""
    arm = row["arm"] if row["learning_rate"] is None else "after"
    suffix = f", pictures {row['picture_set']}" if row["picture_set"] else ""
    return {"": arm, "measure": f"{row['measure']}, {row['dataset']}{suffix}", "value": value}


def _load_trained(home: DataRoot) -> list[dict[str, Any]]:
    asset = adapter_key(GROUP)
    tables = (home.find(asset, partition) for partition in BY_ARM.get_partition_keys())
    return [
        row for table in tables if table is not None for row in ADAPTERS.read_rows(table, asset)
    ]


def _find_tuned(row: Mapping[str, Any], judges: Sequence[Model]) -> _Tuned:
    """The judge that has the adapter, and the one that differs from it by that alone."""
    judge = next((j for j in judges if j.parameters.get("adapter") == row["adapter"]), None)
    if judge is None:
        return _Tuned(row, None, None)
    base_parameters = {name: value for name, value in judge.parameters.items() if name != "adapter"}
    base = next(
        (
            model
            for model in judges
            if to_identity(model) == to_identity(judge)
            and dict(model.parameters) == base_parameters
        ),
        None,
    )
    return _Tuned(row, judge, base)


def _compare(
    home: DataRoot, config: MitigationTableConfig, cases: pd.DataFrame, tuned: _Tuned
) -> Iterator[dict[str, Any]]:
    """The rows of an adapter and of its base."""
    arm = {"arm": tuned.row["arm"], "learning_rate": tuned.row["learning_rate"]}
    before_columns = {"arm": BEFORE, "learning_rate": None}
    for arm_columns, model in ((before_columns, tuned.base), (arm, tuned.judge)):
        for measure in _measure(home, config, cases, model, tuned):
            reason = measure.reason or _explain_unlisted(tuned, model)
            values = measure._asdict() | {"reason": reason}
            is_stand_in = measure.is_stand_in or bool(tuned.row["is_stand_in"])
            judge = model.name if model else None
            yield {**arm_columns, "judge": judge, **values, "is_stand_in": is_stand_in}


def _measure(
    home: DataRoot,
    config: MitigationTableConfig,
    cases: pd.DataFrame,
    model: Model | None,
    tuned: _Tuned,
) -> Iterator[TuningMeasure]:
    name = model.name if model else None
    base_name = tuned.base.name if tuned.base and tuned.base is not model else None
    arm_cases = cases[cases["arm"].eq(tuned.row["arm"])]
    trained_on = (
        picture_marks(to_records(arm_cases)) if model and model is tuned.judge else frozenset()
    )
    held_out = cases[cases["arm"].eq(HELD_OUT)]
    held_out_cases = held_out[held_out["kind"].eq("case")]
    for dataset, dataset_cases in held_out_cases.groupby("dataset", sort=False):
        if dataset != config.mme:
            yield from measure_symmetric_accuracy(
                home, str(dataset), dataset_cases, name, base_name
            )
    questions = held_out[held_out["kind"].eq("vqa")]
    yield from measure_general_questions(home, questions, config.mme, name, base_name, trained_on)


def _explain_unlisted(tuned: _Tuned, model: Model | None) -> str:
    if model is not None:
        return ""
    if tuned.judge is None:
        return f"no judge of models.yaml has the adapter {tuned.row['adapter']}"
    return (
        f"no judge of models.yaml is {tuned.judge.name} without its adapter, with its other "
        "parameters"
    )


def _drop_repeated_bases(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, those of one base once."""
    distinct_rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key_columns = ("arm", "learning_rate", "judge", "measure", "dataset", "picture_set")
        distinct_rows.setdefault(tuple(row[name] for name in key_columns), row)
    return list(distinct_rows.values())


def _general_test(config: MitigationTableConfig, rows: Sequence[Mapping[str, Any]]) -> str:
    if config.mme:
        return f"MME, from the collection {config.mme}: {' and '.join(SUBTASKS)}"
    if any(row["measure"] == "general" for row in rows):
        return "general questions that were held out: their yes/no ones; no collection of MME"
    return "none: there is no collection of MME, and no general question was held out"

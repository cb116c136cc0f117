"""Symmetry: how often each judge is right on a dataset's cases, and on pairs with their negations.

It is a summary of all judges, of which the report is made: unperturbed (Table 3), under common and
adversarial perturbations (Tables 4 and 5, and attacks on other judges than they were made for), and
by number of repeats and temperature (Table 6).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    WHOLE,
    Columns,
    interval_columns,
    to_materialize_result,
    to_plain_records,
)
from assets.kit.previews import inline_tables, merge_intervals
from assets.kit.table_asset import NotMaterialized
from assets.vhexpansion.common import asset_key, dataset_partitions, table_asset
from assets.vhexpansion.counted_answers import load_counted_answers
from assets.vhexpansion.yes_no_step import NONE
from metrics import symmetry_table
from metrics.vhexpansion.symmetry import select_repeats
from resources.models.catalog import Catalog, Model, to_identity
from resources.storage.data_root import DataRoot


def _build_bounded_columns(name: str, description: str) -> dict[str, tuple[pa.DataType, str]]:
    return {
        **interval_columns(name, description, "base pictures"),
        f"{name}_least": (REAL, "Lower bound: all missing answers wrong"),
        f"{name}_most": (REAL, "Upper bound: all missing answers right"),
    }


SYMMETRY = Columns(
    dataset=(TEXT, "The dataset"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    model=(TEXT, "The judge, as models.yaml names it"),
    temperature=(REAL, "Temperature of the judge; empty if its entry has none"),
    variant_of=(TEXT, "First judge that differs only in temperature, or the judge itself"),
    perturbation=(TEXT, "none, a common one, i_fgsm or pgd"),
    encoder=(TEXT, "Model whose encoder was attacked; empty without an attack"),
    is_own_encoder=(
        BOOLEAN,
        "True if the attack is on the judge's own encoder; empty without an attack",
    ),
    parameters=(TEXT, "Parameters of the perturbation, as JSON; empty for none"),
    repeats=(WHOLE, "Number of repeats counted: all, and fewer"),
    has_all_repeats=(BOOLEAN, "True if all repeats are counted"),
    total_cases=(WHOLE, "Cases of the dataset that have a negation"),
    cases=(WHOLE, "Cases asked about, without those left out"),
    left_out=(WHOLE, "Cases left out as the judge was trained on them; empty where not known"),
    images=(WHOLE, "Base pictures of the cases: one for all sizes of a scene"),
    requests=(WHOLE, "Requests about cases and negations"),
    unanswered=(WHOLE, "Requests refused, unparsed or failed: neither right nor wrong"),
    true_yes_rate=(REAL, "Share of cases whose right answer is yes"),
    **_build_bounded_columns("accuracy", "The share of cases that is answered right"),
    negated_accuracy=(REAL, "Share of negations answered right"),
    **_build_bounded_columns(
        "symmetric", "The share of pairs, a case and its negation, of which both are"
    ),
    **interval_columns(
        "change", "Of that, from the picture as it was; paired by case", "base pictures"
    ),
    generated=(WHOLE, "Answered cases that were generated: negations and, if perturbed, cases"),
    **interval_columns(
        "new_cases", "Those of them that are answered wrong: new successful cases", "base pictures"
    ),
    **interval_columns("yes_rate", "The share of answers that is yes", "base pictures"),
    both_yes_rate=(REAL, "Share of pairs with the answer yes to both"),
)
"""Table with one row per judge, perturbation and number of repeats."""

_READ_COLUMNS = [
    *("case_id", "form", "truth", "answer", "repeat"),
    *("perturbation", "encoder", "parameters", "sha256", "is_stand_in"),
]
"""The columns that are read: responses of many judges are larger than memory."""
_SETTING = ["perturbation", "encoder", "parameters"]
_UNCHANGED: Mapping[str, str] = {"perturbation": NONE, "encoder": "", "parameters": ""}


def build_symmetry_asset(catalog: Catalog, judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `symmetry` of these judges."""

    @table_asset(
        columns=SYMMETRY,
        partitions=dataset_partitions(),
        deps=[AssetDep(asset_key(f"answers_{judge.name}")) for judge in judges],
        description="Accuracy, symmetric accuracy, new successful cases and yes-rates by judge and "
        "perturbation, with intervals over base pictures (Tables 3 to 6).",
    )
    def symmetry(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Count what was answered. Raises `NotMaterialized` where nothing was."""
        dataset = context.partition_key
        cases = home.find(asset_key("negated_cases"), dataset, ["outcome"])
        case_count = 0 if cases is None else int(cases["outcome"].eq("negated").sum())
        rows: list[dict[str, Any]] = []
        counted_answers = []
        for judge in judges:
            counted = load_counted_answers(home, judge, dataset, _READ_COLUMNS)
            if counted is None:
                continue
            if warning := counted.warning(judge.name, dataset):
                context.log.warning(warning)
            if counted.answers.empty:
                continue
            rows += symmetry_rows(
                catalog, judges, judge, dataset, counted.answers, case_count, counted.excluded_cases
            )
            counted_answers.append(counted.answers)
        if not rows:
            raise NotMaterialized(
                f"vhexpansion/symmetry: no judge has answered {dataset} yet. Materialize "
                "vhexpansion/answers_… of it first."
            )
        table = SYMMETRY.build_table(rows)
        shown = table.to_pandas().query("has_all_repeats")
        labels = ["model", *_SETTING[:2]]
        columns = ["cases", "accuracy", "symmetric", "symmetric_low", "symmetric_high"]
        numbers = shown[[*labels, *columns]].round(3)
        numbers = merge_intervals(numbers, "symmetric", plotted=True)
        return to_materialize_result(
            table, *counted_answers, **inline_tables("numbers", numbers, *labels)
        )

    return symmetry


def symmetry_rows(
    catalog: Catalog,
    judges: Sequence[Model],
    judge: Model,
    dataset: str,
    answers: pd.DataFrame,
    total_cases: int,
    left_out: int | None = 0,
) -> Iterator[dict[str, Any]]:
    """The rows of one judge's answers to a dataset, first of all repeats, then of fewer."""
    temperature = judge.parameters.get("temperature")
    fixed_columns = {
        "dataset": dataset,
        "is_stand_in": bool(answers["is_stand_in"].any()),
        "model": judge.name,
        "total_cases": total_cases,
        "left_out": left_out,
        "temperature": None if temperature is None else float(temperature),
        "variant_of": next(entry.name for entry in judges if _differ_by_temperature(entry, judge)),
    }
    # The same weights may be asked through a server and attacked on this machine.
    same_weights = {entry.name for entry in catalog.models if entry.model == judge.model}
    filled = answers.fillna({"encoder": "", "parameters": ""})
    repeat_count = int(answers["repeat"].max()) + 1
    for repeats in range(repeat_count, 0, -1):
        table = symmetry_table(select_repeats(filled, repeats), _SETTING, _UNCHANGED)
        for row in to_plain_records(table):
            encoder = row["encoder"] or None
            yield {
                **fixed_columns,
                **row,
                "encoder": encoder,
                "is_own_encoder": None if encoder is None else encoder in same_weights,
                "parameters": row["parameters"] or None,
                "repeats": repeats,
                "has_all_repeats": repeats == repeat_count,
            }


def _differ_by_temperature(first: Model, second: Model) -> bool:
    """Return whether two entries are of one model and differ at most in temperature."""

    def drop_temperature(model: Model) -> dict[str, Any]:
        return {name: value for name, value in model.parameters.items() if name != "temperature"}

    return to_identity(first) == to_identity(second) and drop_temperature(
        first
    ) == drop_temperature(second)

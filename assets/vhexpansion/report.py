"""The report: the datasets that judges have answered."""

from collections.abc import Mapping, Sequence

import pandas as pd
from dagster import AssetsDefinition

from assets.kit.token_counts import TOKEN_COLUMNS
from assets.report.asset import ReportSources, subjects_report
from assets.report.thinking import list_axes
from assets.vhexpansion.blind_comparison import load_blind_lines
from assets.vhexpansion.common import GROUP, QUESTION, TITLE, dataset_partitions
from assets.vhexpansion.counted_answers import CountedAnswers, load_counted_answers
from assets.vhexpansion.negation_review import estimate_rejections
from assets.vhexpansion.pages import REPORT, AnsweredDataset, MitigationTable
from assets.vhexpansion.pages.gallery import yes_twice
from assets.vhexpansion.pages.mitigation import PAGE
from assets.vhexpansion.yes_no_step import NONE
from resources.faults import CorruptItem
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_READ_COLUMNS = [
    *("model", "case_id", "sha256", "form", "question", "perturbation", "parameters"),
    *("repeat", "response", "answer", "truth"),
]


def build_report_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the datasets that there are, by these judges."""
    return subjects_report(
        REPORT,
        GROUP,
        names=lambda report_sources: dataset_partitions().get_partition_keys(),
        load=lambda report_sources, name: _load(report_sources, name, judges),
        extras=_load_mitigation,
        table="symmetry",
        # Answers are read without edges: `symmetry` changes whenever they do.
        deps=[
            *("mitigation", "negated_cases"),
            *(f"blind_answers_{judge.name}" for judge in judges if judge.blind),
        ],
        description=f"{TITLE}: {QUESTION} Tables 3 to 8, and pairs in pictures.",
    )


def _load_mitigation(report_sources: ReportSources) -> Mapping[str, object]:
    table = report_sources.table("mitigation")
    if table is None:
        return {}
    return {"further_pages": {PAGE: "mitigation.html"}, "tuned": MitigationTable(table)}


def _load(
    report_sources: ReportSources, name: str, judges: Sequence[Model]
) -> AnsweredDataset | None:
    table = report_sources.table("symmetry", name)
    if table is None:
        return None
    # What knows how a case was made is no result of a real judge.
    real = [judge.name for judge in judges if not judge.is_stand_in]
    is_asked = table["model"].isin(real)
    asked_judges = [judge for judge in judges if judge.name in real or not is_asked.any()]
    table = table[table["model"].isin([judge.name for judge in asked_judges])]
    if table.empty:
        return None
    loaded = [
        (judge, counted.answers)
        for judge in asked_judges
        if (counted := _load_counted(report_sources.home, judge, name))
    ]
    axes = list_axes(asked_judges)
    on_axes = {model for axis in axes for model in axis.steps.values()}
    tables = [pd.DataFrame(columns=_READ_COLUMNS), *(table for _, table in loaded)]
    negated_cases = report_sources.table("negated_cases", name)
    return AnsweredDataset(
        name,
        table,
        pd.concat(map(yes_twice, tables), ignore_index=True),
        report_sources.dates("answers", table["model"].unique(), [name]),
        load_blind_lines(report_sources.home, name, loaded),
        pd.DataFrame() if negated_cases is None else estimate_rejections(negated_cases),
        axes,
        {
            judge.name: answers[answers["perturbation"].eq(NONE)]
            for judge, answers in loaded
            if judge.name in on_axes
        },
    )


def _load_counted(home: DataRoot, judge: Model, name: str) -> CountedAnswers | None:
    try:
        return load_counted_answers(home, judge, name, [*_READ_COLUMNS, *TOKEN_COLUMNS])
    except CorruptItem:
        # An older version, which did not count tokens, has stored them.
        return load_counted_answers(home, judge, name, _READ_COLUMNS)

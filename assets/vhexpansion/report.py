"""The report: the datasets that judges have answered."""

from collections.abc import Sequence

import pandas as pd
from dagster import AssetsDefinition

from assets.kit.table_asset import NotMaterialized
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from assets.vhexpansion.common import GROUP, QUESTION, TITLE, asset_key, dataset_partitions
from assets.vhexpansion.counted_answers import load_counted_answers
from assets.vhexpansion.pages import REPORT, AnsweredDataset, MitigationTable
from assets.vhexpansion.pages.gallery import yes_twice
from assets.vhexpansion.pages.mitigation import PAGE
from resources.models.catalog import Model

_READ = [
    *("model", "case_id", "sha256", "form", "question", "perturbation", "parameters"),
    *("repeat", "response", "answer"),
]


def build_report_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the datasets that there are, by these judges."""
    return report_asset(
        GROUP,
        lambda report_sources: _site(report_sources, judges),
        # Answers are read without edges: `symmetry` changes whenever they do.
        deps=[asset_key("symmetry"), asset_key("mitigation")],
        description=f"{TITLE}: {QUESTION} Tables 3 to 8, and pairs in pictures.",
    )


def _site(report_sources: ReportSources, judges: Sequence[Model]) -> Site:
    names = dataset_partitions().get_partition_keys()
    subjects = [
        dataset
        for name in names
        if (dataset := _answered(report_sources, name, judges)) is not None
    ]
    if not subjects:
        raise NotMaterialized(
            "vhexpansion/report: no dataset has been answered yet. Materialize "
            "vhexpansion/symmetry of one first."
        )
    table = report_sources.table("mitigation")
    return REPORT.build(
        subjects,
        facts=report_sources.facts,
        spent=report_sources.spent,
        further_pages={} if table is None else {PAGE: "mitigation.html"},
        tuned=None if table is None else MitigationTable(table),
    )


def _answered(
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
    answers_by_judge = (
        load_counted_answers(report_sources.home, judge, name, _READ) for judge in asked_judges
    )
    answers = [
        pd.DataFrame(columns=_READ),
        *(judge_answers.answers for judge_answers in answers_by_judge if judge_answers is not None),
    ]
    return AnsweredDataset(
        name,
        table,
        pd.concat(map(yes_twice, answers), ignore_index=True),
        {
            judge: report_sources.made_on(f"answers_{judge}", [name])
            for judge in table["model"].unique()
        },
    )

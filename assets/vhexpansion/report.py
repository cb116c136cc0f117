"""The report: the datasets that judges have answered."""

from collections.abc import Sequence

import pandas as pd
from dagster import AssetsDefinition

from assets.kit.table_asset import NotMaterialized
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from assets.vhexpansion.common import GROUP, QUESTION, TITLE, asset_key, dataset_partitions
from assets.vhexpansion.counted_answers import load_counted_answers
from assets.vhexpansion.pages import REPORT, Answered, Mitigation
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
        lambda found: _site(found, judges),
        # Answers are read without edges: `symmetry` changes whenever they do.
        deps=[asset_key("symmetry"), asset_key("mitigation")],
        description=f"{TITLE}: {QUESTION} Tables 3 to 8, and pairs in pictures.",
    )


def _site(found: ReportSources, judges: Sequence[Model]) -> Site:
    names = dataset_partitions().get_partition_keys()
    there = [each for name in names if (each := _answered(found, name, judges)) is not None]
    if not there:
        raise NotMaterialized(
            "vhexpansion/report: no dataset has been answered yet. Materialize "
            "vhexpansion/symmetry of one first."
        )
    table = found.table("mitigation")
    return REPORT.build(
        there,
        facts=found.facts,
        spent=found.spent,
        further_pages={} if table is None else {PAGE: "mitigation.html"},
        tuned=None if table is None else Mitigation(table),
    )


def _answered(found: ReportSources, name: str, judges: Sequence[Model]) -> Answered | None:
    table = found.table("symmetry", name)
    if table is None:
        return None
    # What knows how a case was made is no result of a real judge.
    real = [judge.name for judge in judges if not judge.is_stand_in]
    asked = table["model"].isin(real)
    asked_judges = [judge for judge in judges if judge.name in real or not asked.any()]
    table = table[table["model"].isin([judge.name for judge in asked_judges])]
    if table.empty:
        return None
    there = (load_counted_answers(found.home, judge, name, _READ) for judge in asked_judges)
    answers = [pd.DataFrame(columns=_READ), *(each.answers for each in there if each is not None)]
    return Answered(
        name,
        table,
        pd.concat(map(yes_twice, answers), ignore_index=True),
        {judge: found.made_on(f"answers_{judge}", [name]) for judge in table["model"].unique()},
    )

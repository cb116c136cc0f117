"""The report: the sources whose inflation is known."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from dagster import AssetsDefinition

from assets.frame.common import GROUP, QUESTION, TITLE, asset_key
from assets.frame.pages import REPORT, ScoredSource
from assets.kit.partitions import list_painters, load_distinct_collections, sources
from assets.kit.table_asset import NotMaterialized
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from generators.prompts.judging_templates import STANDARD
from generators.prompts.visual_concepts import DOMAINS
from resources.models.catalog import Catalog, Model

_SCORES = ("model", "domain", "image_id", "instruction", "bias", "parameters", "original")
_NEEDED = {
    "scores": [*_SCORES, "sha256", "readable", "template", "score"],
    "search": ["model", "domain", "bias", "choice", "parameters", "tried", "seed"],
    "pairwise": [
        *("model", "domain", "image_id", "original", "bias", "parameters", "order", "preference"),
    ],
}


def build_report_asset(catalog: Catalog, judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the sources that there are, by these judges of a catalog."""
    return report_asset(
        GROUP,
        lambda report_sources: _site(report_sources, catalog, judges),
        # The others are read without edges: `inflation` changes whenever they do.
        deps=[asset_key("inflation"), asset_key("human_scores")],
        description=f"{TITLE}: {QUESTION} Tables 2 to 7 and 9, Figures 2 and 3, pictures.",
    )


def _site(report_sources: ReportSources, catalog: Catalog, judges: Sequence[Model]) -> Site:
    source_names = report_sources.instance.get_dynamic_partitions(str(sources.name))
    listed = {*list_painters(catalog), *load_distinct_collections(catalog)}
    subjects = [
        replace(source, is_listed=name in listed)
        for name in source_names
        if (source := _sourced(report_sources, name, judges)) is not None
    ]
    if not subjects:
        raise NotMaterialized(
            "frame/report: no source has been compared yet. Materialize frame/inflation of one "
            "first."
        )
    return REPORT.build(subjects, facts=report_sources.facts, spent=report_sources.spent)


def _sourced(
    report_sources: ReportSources, name: str, judges: Sequence[Model]
) -> ScoredSource | None:
    inflation = report_sources.table("inflation", name)
    if inflation is None:
        return None
    is_stand_in = bool(inflation["is_stand_in"].any())
    # A reference judge is told what was done to a picture: it is no result beside real ones.
    real = [judge for judge in judges if not judge.is_stand_in]
    is_reference = not inflation["model"].isin([judge.name for judge in real]).any()
    counted = judges if is_stand_in or is_reference else real
    inflation = inflation[inflation["model"].isin([judge.name for judge in counted])]
    if inflation.empty:
        return None
    scores, search, pairwise = (
        _joined(report_sources, table_name, name, counted) for table_name in _NEEDED
    )
    people = report_sources.table("human_scores", name)
    return ScoredSource(
        name,
        inflation,
        scores[scores["template"].eq(STANDARD)],
        search,
        pairwise,
        pd.DataFrame() if people is None else people,
        _inapplicable(report_sources, name),
        is_reference=is_reference,
        dates={
            judge.name: report_sources.made_on(
                f"scores_{judge.name}", [f"{domain}|{name}" for domain in DOMAINS]
            )
            for judge in counted
        },
    )


def _inapplicable(report_sources: ReportSources, source: str) -> pd.DataFrame:
    """The number of pictures that cannot have a bias, by domain, bias and reason."""
    groups = ["domain", "bias", "reason"]
    tables = [
        table[table["outcome"].eq("inapplicable")]
        for domain in DOMAINS
        for table in [
            report_sources.home.find(
                asset_key("biased_images"), f"{domain}|{source}", [*groups, "image_id", "outcome"]
            )
        ]
        if table is not None
    ]
    if not tables:
        return pd.DataFrame(columns=[*groups, "pictures"])
    pictures = pd.concat(tables).groupby(groups, sort=False)["image_id"].nunique()
    return pictures.rename("pictures").reset_index()


def _joined(
    report_sources: ReportSources, table: str, source: str, judges: Sequence[Model]
) -> pd.DataFrame:
    """A table of all judges and domains, without rows where there is none."""
    tables = [
        table_rows[_NEEDED[table]]
        for judge in judges
        for table_rows in report_sources.tables(
            f"{table}_{judge.name}", [f"{domain}|{source}" for domain in DOMAINS]
        ).values()
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_NEEDED[table])

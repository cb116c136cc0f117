"""The report: the sources whose inflation is known."""

from collections.abc import Sequence

import pandas as pd
from dagster import AssetsDefinition

from assets.frame.common import GROUP, QUESTION, TITLE
from assets.frame.pages import REPORT, ScoredSource
from assets.kit.partitions import list_painters, load_distinct_collections, sources
from assets.report.asset import ReportSources, subjects_report
from generators.prompts.judging_templates import STANDARD
from generators.prompts.visual_concepts import DOMAINS
from resources.models.catalog import Catalog, Model

_SCORES = ["model", "domain", "image_id", "original", "bias", "parameters"]
_SEARCH = ["model", "domain", "bias", "choice", "parameters", "candidate_count", "seed"]
_INAPPLICABLE = ["domain", "bias", "reason"]


def build_report_asset(catalog: Catalog, judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the sources that there are, by these judges of a catalog."""
    return subjects_report(
        REPORT,
        GROUP,
        names=lambda report_sources: report_sources.instance.get_dynamic_partitions(
            str(sources.name)
        ),
        load=lambda report_sources, name: _load(report_sources, name, catalog, judges),
        table="inflation",
        # The others are read without edges: `inflation` changes whenever they do.
        deps=["human_scores", "net_inflation"],
        description=f"{TITLE}: {QUESTION} Tables 2 to 7 and 9, Figures 2 and 3, pictures.",
    )


def _load(
    report_sources: ReportSources, name: str, catalog: Catalog, judges: Sequence[Model]
) -> ScoredSource | None:
    inflation = report_sources.table("inflation", name)
    if inflation is None:
        return None
    # A stand-in judge is told what was done to a picture: it is no result beside real ones.
    real = [judge.name for judge in judges if not judge.is_stand_in]
    has_only_stand_ins = not inflation["model"].isin(real).any()
    is_counted = has_only_stand_ins or inflation["is_stand_in"].any()
    counted = [judge.name for judge in judges] if is_counted else real
    inflation = inflation[inflation["model"].isin(counted)]
    if inflation.empty:
        return None
    partitions = [f"{domain}|{name}" for domain in DOMAINS]

    def concat(table: str, columns: list[str]) -> pd.DataFrame:
        names = [f"{table}_{judge}" for judge in counted]
        return report_sources.concat(names, partitions, columns)

    scores = concat("scores", [*_SCORES, "instruction", "sha256", "readable", "template", "score"])
    people = report_sources.table("human_scores", name)
    net_inflation = report_sources.table("net_inflation", name)
    pictures = report_sources.concat(
        ["biased_images"], partitions, [*_INAPPLICABLE, "image_id", "outcome"]
    )
    inapplicable = pictures[pictures["outcome"].eq("inapplicable")]
    return ScoredSource(
        name,
        inflation,
        scores[scores["template"].eq(STANDARD)],
        concat("search", _SEARCH),
        concat("pairwise", [*_SCORES, "order", "preference"]),
        pd.DataFrame() if people is None else people,
        inapplicable.groupby(_INAPPLICABLE, sort=False)["image_id"]
        .nunique()
        .rename("pictures")
        .reset_index(),
        is_listed=name in {*list_painters(catalog), *load_distinct_collections(catalog)},
        has_only_stand_ins=has_only_stand_ins,
        dates=report_sources.dates("scores", counted, partitions),
        net_inflation=(
            pd.DataFrame()
            if net_inflation is None
            else net_inflation[net_inflation["model"].isin(counted)]
        ),
    )

"""The report: the sources whose inflation is known."""

from collections.abc import Sequence

import pandas as pd
from dagster import AssetsDefinition

from assets.frame.common import GROUP, QUESTION, TITLE, key
from assets.frame.pages import Sourced, build
from assets.kit.partitions import sources
from assets.kit.table_asset import NothingYet
from assets.report.asset import Sources, report_asset
from assets.report.publish import Site
from generators.prompts.judging_templates import STANDARD
from generators.prompts.visual_concepts import DOMAINS
from resources.models.catalog import Model

_SCORES = ("model", "domain", "image_id", "instruction", "bias", "parameters", "original")
_NEEDED = {
    "scores": [*_SCORES, "sha256", "readable", "template", "score"],
    "search": ["model", "domain", "bias", "choice", "parameters", "tried", "seed"],
    "pairwise": [
        *("model", "domain", "image_id", "original", "bias", "parameters", "order", "preference"),
    ],
}


def report_over(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the sources that there are, by these judges."""
    return report_asset(
        GROUP,
        lambda found: _site(found, judges),
        # The others are read without edges: `inflation` changes whenever they do.
        deps=[key("inflation"), key("human_scores")],
        description=f"{TITLE}: {QUESTION} Tables 2 to 7 and 9, Figures 2 and 3, pictures.",
    )


def _site(found: Sources, judges: Sequence[Model]) -> Site:
    known = found.instance.get_dynamic_partitions(str(sources.name))
    there = [each for name in known if (each := _sourced(found, name, judges)) is not None]
    if not there:
        raise NothingYet(
            "frame/report: no source has been compared yet. Materialize frame/inflation of one "
            "first."
        )
    dates = {
        (source.name, judge): found.made_on(
            f"scores_{judge}", [f"{domain}|{source.name}" for domain in DOMAINS]
        )
        for source in there
        for judge in source.judges
    }
    return build(sources=there, facts=found.facts, spent=found.spent, dates=dates)


def _sourced(found: Sources, name: str, judges: Sequence[Model]) -> Sourced | None:
    inflation = found.table("inflation", name)
    if inflation is None:
        return None
    stand_in = bool(inflation["rehearsal"].any())
    # What is told what was done to a picture is no result of real ones.
    counted = [judge for judge in judges if stand_in or not judge.rehearses]
    inflation = inflation[inflation["model"].isin([judge.name for judge in counted])]
    if inflation.empty:
        return None
    scores, search, pairwise = (_joined(found, each, name, counted) for each in _NEEDED)
    people = found.table("human_scores", name)
    return Sourced(
        name,
        inflation,
        scores[scores["template"].eq(STANDARD)],
        search,
        pairwise,
        pd.DataFrame() if people is None else people,
    )


def _joined(found: Sources, table: str, source: str, judges: Sequence[Model]) -> pd.DataFrame:
    """A table of all judges and domains, without rows where there is none."""
    held = [
        each[_NEEDED[table]]
        for judge in judges
        for each in found.tables(
            f"{table}_{judge.name}", [f"{domain}|{source}" for domain in DOMAINS]
        ).values()
    ]
    return pd.concat(held, ignore_index=True) if held else pd.DataFrame(columns=_NEEDED[table])

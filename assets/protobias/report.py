"""The report: the painters that are summarised, and what is missing of others."""

from collections.abc import Sequence

from dagster import AssetsDefinition

from assets.kit.partitions import painters
from assets.kit.table_asset import NothingYet
from assets.protobias.common import GROUP, QUESTION, TITLE, key
from assets.protobias.pages import build
from assets.protobias.reported import facts, painted_by, prompts, unsummarised
from assets.report.asset import Sources, report_asset
from assets.report.publish import Site
from resources.models.catalog import Model

_OVER = ("concepts", "prompt_triplets", "image_pairs", "filtered_pairs", "summary")


def report_over(scorers: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the painters there are, as these judges and metrics score them."""
    return report_asset(
        GROUP,
        lambda sources: _site(sources, scorers),
        # Scores are read without edges: `summary` changes whenever they do.
        deps=[key(name) for name in _OVER],
        description=f"{TITLE}: {QUESTION} Failure rates, Tables 1 and 2, retention, pairs.",
    )


def _site(sources: Sources, scorers: Sequence[Model]) -> Site:
    home = sources.home
    known = sources.instance.get_dynamic_partitions(str(painters.name))
    found = [each for name in known if (each := painted_by(home, name, scorers)) is not None]
    if not found:
        raise NothingYet(
            "No painter is summarised yet: materialize protobias/summary for one first."
        )
    return build(
        painters=found,
        prompts=prompts(home),
        facts=facts(found) | dict(sources.facts),
        missing=unsummarised(home, known, found),
        spent=sources.spent,
        originals=sources.originals,
    )

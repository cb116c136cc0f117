"""The assets of this benchmark, made of the models there are, and what they would ask."""

from dagster import AssetChecksDefinition, AssetsDefinition

from assets.kit.plan import Planners
from assets.protobias import picture_planning, score_planning, triplet_planning
from assets.protobias.filtered import filtered_pairs_by
from assets.protobias.pair_checks import checks_of_pairs
from assets.protobias.pairs import image_pairs_by
from assets.protobias.report import report_over
from assets.protobias.score_checks import checks_of_scores
from assets.protobias.scores import scores_by
from assets.protobias.scoring import scorers
from assets.protobias.summary import summary_over
from assets.protobias.triplets import triplets_by
from resources.models.catalog import Catalog


def defined(catalog: Catalog) -> tuple[AssetsDefinition | AssetChecksDefinition, ...]:
    """All assets that depend on models, with their checks."""
    return (
        triplets_by(catalog),
        image_pairs_by(catalog),
        filtered_pairs_by(catalog),
        *checks_of_pairs(),
        *scores_by(catalog),
        *checks_of_scores(catalog),
        summary_over(scorers(catalog)),
        report_over(scorers(catalog)),
    )


def planners(catalog: Catalog) -> Planners:
    """By asset: what the models of a catalog would be asked for it."""
    return {
        **triplet_planning.planners(catalog),
        **picture_planning.planners(catalog),
        **score_planning.planners(catalog),
    }

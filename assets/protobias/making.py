"""The assets of this benchmark, made of the models there are, and what they would ask."""

from dagster import AssetChecksDefinition, AssetsDefinition

from assets.plans import Planners
from assets.protobias import triplet_planning
from assets.protobias.triplets import triplets_by
from resources.models.catalog import Catalog


def defined(catalog: Catalog) -> tuple[AssetsDefinition | AssetChecksDefinition, ...]:
    """All assets that depend on models, with their checks."""
    return (triplets_by(catalog),)


def planners(catalog: Catalog) -> Planners:
    """By asset: what the models of a catalog would be asked for it."""
    return {**triplet_planning.planners(catalog)}

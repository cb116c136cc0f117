"""The assets that ask models for photographs, made of the models there are."""

from dagster import AssetChecksDefinition, AssetsDefinition

from assets.vlmbias.photographs.candidates import candidates_by
from assets.vlmbias.photographs.checks import checks_of_pictures
from assets.vlmbias.photographs.edits import edits_by
from assets.vlmbias.photographs.paintings import paintings_by
from assets.vlmbias.photographs.subjects import subjects_by
from resources.models.catalog import Catalog


def photographed(catalog: Catalog) -> tuple[AssetsDefinition | AssetChecksDefinition, ...]:
    """The assets that ask writers, painters, editors and checkers, with their checks."""
    steps = (subjects_by, paintings_by, edits_by, candidates_by)
    return *(step(catalog) for step in steps), *checks_of_pictures()

"""Animals and logos: painted, edited, checked, reviewed by people and published.

Each step is an asset of the benchmark: `subjects`, `paintings`, `edits` and `candidates` ask the
models of models.yaml, for one painter at a time from the second on; `photographs` takes what
people have accepted of all painters, and is to the questions what drawn images are.
"""

from dagster import AssetChecksDefinition, AssetsDefinition

from assets.vlmbias.photographs.candidates import candidates_by
from assets.vlmbias.photographs.edits import edits_by
from assets.vlmbias.photographs.paintings import paintings_by
from assets.vlmbias.photographs.subjects import subjects_by
from resources.models.catalog import Catalog

__all__ = ["photographed"]


def photographed(catalog: Catalog) -> tuple[AssetsDefinition | AssetChecksDefinition, ...]:
    """The assets that ask writers, painters, editors and checkers, with their checks."""
    return subjects_by(catalog), paintings_by(catalog), edits_by(catalog), candidates_by(catalog)

"""Licences of the parts of a release: of this project's, of models and of collections."""

from collections.abc import Iterable, Mapping

from assets.kit.collections import load_listed_collections
from assets.kit.licences import LICENCES, OWN, PartLicence
from resources.models.catalog import Catalog

FILE = "LICENCES.md"
DEFAULT_LICENCE = "CC-BY-4.0"
"""Licence of what code drew and wrote, unless whoever releases names another."""


def list_licences(catalog: Catalog, own_licence: str) -> Mapping[str, PartLicence]:
    """List the known licences by part: those of models.yaml and collections.yaml among them."""
    project = PartLicence(OWN, own_licence, "Drawn, asked and written by Counterfactory's code.")
    models = (
        PartLicence(model.name, model.licence, f"Made by the model {model.model}.")
        for model in catalog.models
        if model.licence
    )
    collections = (
        PartLicence(name, collection.licence, f"Taken from the collection {name}.")
        for name, collection in load_listed_collections().items()
        if collection.licence
    )
    return {
        licence.part: licence for licence in (*LICENCES.values(), project, *models, *collections)
    }


def build_licences(title: str, licences: Iterable[PartLicence]) -> str:
    """Build a table of Markdown with the licence of each part."""
    lines = [
        f"# Licences of {title}",
        "",
        "| part | licence | source |",
        "|---|---|---|",
        *(f"| {part.part} | {part.licence} | {part.source} |" for part in licences),
    ]
    return "\n".join(lines) + "\n"

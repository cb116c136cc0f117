"""The taxonomy that a user has: taxonomy.yaml, checked."""

import os
from pathlib import Path

from generators.prompts.concepts import DOMAINS
from generators.prompts.consistency import find_taxonomy_problems
from generators.prompts.taxonomy import Taxonomy
from resources.settings.project_folder import find_project_folder
from resources.user_files import yaml_document
from resources.user_files.yaml_document import Document


class TaxonomyError(Exception):
    """taxonomy.yaml cannot be used; the message says where and what to do."""


def find_taxonomy_path() -> Path:
    """COUNTERFACTORY_TAXONOMY, or taxonomy.yaml of the project."""
    named = os.environ.get("COUNTERFACTORY_TAXONOMY")
    return Path(named or find_project_folder() / "taxonomy.yaml")


def load_taxonomy(path: Path | str) -> Taxonomy:
    """The taxonomy in a file; raises `TaxonomyError`, which names every problem and its line."""
    document = yaml_document.load(
        path,
        f"{path} is not there. It lists what ProtoBias contrasts: take the one that "
        "`counterfactory init` writes, or correct COUNTERFACTORY_TAXONOMY if that is set.",
        TaxonomyError,
    )
    taxonomy = _taxonomy(document)
    document.require_right()
    assert taxonomy is not None
    return taxonomy


def _taxonomy(document: Document) -> Taxonomy | None:
    """The taxonomy, where its form is right; what is wrong is added to the document's problems."""
    if not isinstance(document.value, dict):
        if not document.problems:
            text = f"not a mapping: begin with {', '.join(f'`{name}:`' for name in DOMAINS)}"
            document.add((), text)
        return None
    taxonomy = document.validate(Taxonomy, document.value)
    if taxonomy is not None:
        for path, text in find_taxonomy_problems(taxonomy):
            document.add(path, text)
    return taxonomy

"""The taxonomy that a user has: taxonomy.yaml, checked."""

import os
from pathlib import Path

from pydantic import ValidationError

from generators.prompts.concepts import DOMAINS
from generators.prompts.consistency import problems
from generators.prompts.taxonomy import Taxonomy
from resources.models.complaints import complaint
from resources.models.yaml_lines import Document, Problem, read


class TaxonomyError(Exception):
    """taxonomy.yaml is of no use as it is; the message says where and what to do."""


def taxonomy_path() -> Path:
    """COUNTERFACTORY_TAXONOMY, or taxonomy.yaml beside definitions.py."""
    beside = Path(__file__).parents[1] / "taxonomy.yaml"
    return Path(os.environ.get("COUNTERFACTORY_TAXONOMY") or beside)


def load(path: Path | str) -> Taxonomy:
    """The taxonomy in a file; raises `TaxonomyError`, which names every problem and its line."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise TaxonomyError(
            f"{path} is not there. It lists what ProtoBias contrasts: take the one that comes with "
            "this project, or correct COUNTERFACTORY_TAXONOMY if that is set."
        ) from None
    except OSError as error:
        raise TaxonomyError(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None
    document = read(data)
    taxonomy = _taxonomy(document)
    if taxonomy is None or document.problems:
        lines = [f"  {path}, line {each.line}: {each.text}" for each in sorted(document.problems)]
        count = "one thing" if len(lines) == 1 else f"{len(lines)} things"
        raise TaxonomyError("\n".join([f"{path} has {count} to mend.", *lines]))
    return taxonomy


def _taxonomy(document: Document) -> Taxonomy | None:
    """The taxonomy, where its form is right; what is wrong is added to the document's problems."""
    if not isinstance(document.value, dict):
        if not document.problems:
            text = f"not a mapping: begin with {', '.join(f'`{name}:`' for name in DOMAINS)}"
            document.problems.append(Problem(1, text))
        return None
    known_wrong = {problem.path for problem in document.problems}
    try:
        taxonomy = Taxonomy.model_validate(document.value)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        wrong = known_wrong | {each["loc"] for each in errors}
        for found in errors:
            at = found["loc"]
            # What pydantic says of a list whose only item is wrong: that it is empty.
            empty = found["type"] == "too_short" and any(
                path[: len(at)] == at and path != at for path in wrong
            )
            if at not in known_wrong and not empty:
                problem = Problem(document.line(at), complaint(found, Taxonomy), at)
                document.problems.append(problem)
        return None
    for path, text in problems(taxonomy):
        document.problems.append(Problem(document.line(path), text, path))
    return taxonomy

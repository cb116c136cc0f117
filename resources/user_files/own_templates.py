"""Prompts of a user's own that ask a language model for a triplet, from a YAML file."""

import re
from collections.abc import Iterator, Mapping

from generators.name_suggestions import suggest_names
from generators.prompts.concepts import DOMAINS
from generators.prompts.templates import FIELDS
from resources.user_files import yaml_document
from resources.user_files.rows import UserFileError

_FIELD = re.compile(r"\{(\w+)\}")


def read_own_templates(path: str) -> Mapping[str, str]:
    """The templates in a file, by domain. Raises `UserFileError` with every problem."""
    absent = f"{path} cannot be read (it is not there). Name a file that is there."
    document = yaml_document.load(path, absent, UserFileError)
    templates: Mapping[str, str] = {}
    if isinstance(document.value, dict):
        templates = document.value
    elif not document.problems:
        document.add((), f"not a mapping: begin with one of {', '.join(DOMAINS)}")
    for domain, template in templates.items():
        for problem in _problems(domain, template):
            document.add((domain,), problem)
    document.require_right()
    return templates


def _problems(domain: str, template: object) -> Iterator[str]:
    if domain not in DOMAINS:
        yield f"{domain} is no domain{suggest_names(domain, DOMAINS)}"
    elif not isinstance(template, str) or not template.strip():
        yield f"{domain} has to be the text of a prompt"
    else:
        for name in dict.fromkeys(_FIELD.findall(template)):
            if name not in FIELDS[domain]:
                yield f"{{{name}}} is no field of {domain}{suggest_names(name, FIELDS[domain])}"

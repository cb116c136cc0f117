"""Prompts of a user's own that ask a language model for a triplet, from a YAML file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from generators.nearest import nearest
from generators.prompts.concepts import DOMAINS
from generators.prompts.templates import FIELDS
from resources.models.yaml_lines import read
from resources.own_triplets import OwnFileError

_FIELD = re.compile(r"\{(\w+)\}")


def own_templates(path: str) -> Mapping[str, str]:
    """By domain, the templates in a file; a domain that it lacks has the paper's.

    Raises `OwnFileError`, which names every problem and its line.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise OwnFileError(
            f"{path} cannot be read ({error.strerror}). Name a file that is there."
        ) from None
    document = read(data)
    problems = [(problem.line, problem.text) for problem in document.problems]
    value = document.value
    if not isinstance(value, dict) and not problems:
        problems.append((1, f"not a mapping: begin with one of {', '.join(DOMAINS)}"))
    templates = value if isinstance(value, dict) else {}
    for domain, told in templates.items():
        line = document.line((domain,))
        problems += [(line, problem) for problem in _problems(domain, told)]
    if problems:
        lines = "\n".join(f"  {path}, line {line}: {text}" for line, text in sorted(problems))
        raise OwnFileError(f"{path} cannot be used.\n{lines}")
    return templates


def _problems(domain: str, told: object) -> Iterator[str]:
    if domain not in DOMAINS:
        yield f"{domain} is no domain{nearest(domain, DOMAINS)}"
    elif not isinstance(told, str) or not told.strip():
        yield f"{domain} has to be the text of a prompt"
    else:
        for name in dict.fromkeys(_FIELD.findall(told)):
            if name not in FIELDS[domain]:
                yield f"{{{name}}} is no field of {domain}{nearest(name, FIELDS[domain])}"

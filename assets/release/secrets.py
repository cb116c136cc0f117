"""Keys and other secrets in texts: found by the forms that providers give them, and by value."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from resources.models.catalog import Catalog

_FORMS: Mapping[str, str] = {
    "an Anthropic key": r"sk-ant-[\w-]{20,}",
    "an OpenAI key": r"sk-(?!ant-)[\w-]{20,}",
    "a Google key": r"AIza[\w-]{35}",
    "a Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "an AWS key": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "a GitHub token": r"(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
}
_SHORTEST = 8
"""Characters of the shortest value that is looked for: a shorter one is in many a word."""


class SecretFinder:
    """Finds the keys of providers, and the values of the variables that models.yaml names."""

    def __init__(self, catalog: Catalog, environment: Mapping[str, str]) -> None:
        variables = {model.key_variable for model in catalog.models} | {"HF_TOKEN"}
        values = {
            f"the value of {name}": re.escape(environment[name])
            for name in sorted(filter(None, variables))
            if len(environment.get(name, "")) >= _SHORTEST
        }
        self._names = [*values, *_FORMS]
        # One look behind for all forms: one for each takes five times as long.
        forms = rf"(?<![\w-])(?:{'|'.join(f'({form})' for form in _FORMS.values())})"
        self._pattern = re.compile("|".join([*(f"({value})" for value in values.values()), forms]))

    def find(self, texts: Iterable[str]) -> str | None:
        """Name the first secret in texts, without its value; None where there is none."""
        match = self._pattern.search("\n".join(texts))
        return self._names[(match.lastindex or 0) - 1] if match else None


def iterate_texts(value: Any) -> Iterator[str]:
    """Iterate over all texts in a value of JSON, the names of its fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from iterate_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from iterate_texts(item)

"""The nearest valid names for one that does not exist."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_SEPARATOR = re.compile(r"[|/]|__")
_MIN_LIKENESS = 0.6
_MAX_LISTED = 20
"""Longest list of names to show in full; of a longer one, the most similar are shown."""
_LISTED_OF_MANY = 6


def find_similar(name: str, choices: Iterable[str], max_count: int = 1) -> list[str]:
    """The choices similar to `name`, the most similar first.

    Names of several parts, as in `flux|animals` or `vlmbias__answers__gpt`, are compared part by
    part, so that what many of them share does not make them alike.
    """
    likeness = {choice: _compute_likeness(name.lower(), choice.lower()) for choice in choices}
    alike = [choice for choice in likeness if likeness[choice] >= _MIN_LIKENESS]
    return nlargest(max_count, alike, key=likeness.__getitem__)


def suggest_names(name: str, choices: Iterable[str]) -> str:
    """Alternatives to `name`, as the end of a sentence: the nearest, and all, or some of many."""
    names = list(choices)
    if not names:
        return "; there are none to choose from"
    similar = find_similar(name, names)
    meant = f", did you mean {similar[0]}?" if similar else "."
    if len(names) <= _MAX_LISTED:
        return f"{meant} Choose from {', '.join(names)}"
    similar_names = set(
        nlargest(
            _LISTED_OF_MANY,
            names,
            key=lambda candidate: _compute_likeness(name.lower(), candidate.lower()),
        )
    )
    listed_names = [candidate for candidate in names if candidate in similar_names]
    return (
        f"{meant} Choose from {', '.join(listed_names)} and {len(names) - len(listed_names)} others"
    )


def _compute_likeness(name: str, choice: str) -> float:
    """Similarity of the least similar parts, 0 to 1."""
    name_parts, choice_parts = _SEPARATOR.split(name), _SEPARATOR.split(choice)
    if len(name_parts) == len(choice_parts):
        return min(map(_compute_ratio, name_parts, choice_parts))
    return max(_compute_ratio(name, part) for part in (choice, *choice_parts))


def _compute_ratio(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second).ratio()

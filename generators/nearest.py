"""The nearest valid names for one that does not exist."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_BETWEEN_PARTS = re.compile(r"[|/]|__")
_ALIKE = 0.6
_LISTED = 20
"""More names than these are no list to choose from: the most similar ones are told."""
_OF_MANY = 6


def near(name: str, choices: Iterable[str], most: int = 1) -> list[str]:
    """The choices similar to `name`, the most similar first.

    Names of several parts, as in `flux|animals` or `vlmbias__answers__gpt`, are compared part by
    part, so that what many of them share does not make them alike.
    """
    likeness = {choice: _likeness(name.lower(), choice.lower()) for choice in choices}
    alike = [choice for choice in likeness if likeness[choice] >= _ALIKE]
    return nlargest(most, alike, key=likeness.__getitem__)


def nearest(name: str, choices: Iterable[str]) -> str:
    """Alternatives to `name`, as the end of a sentence: the nearest, and all, or some of many."""
    names = list(choices)
    if not names:
        return ": there is none"
    close = near(name, names)
    meant = f", did you mean {close[0]}?" if close else "."
    if len(names) <= _LISTED:
        return f"{meant} Choose from {', '.join(names)}"
    alike = set(nlargest(_OF_MANY, names, key=lambda each: _likeness(name.lower(), each.lower())))
    some = [each for each in names if each in alike]
    return f"{meant} Choose from {', '.join(some)} and {len(names) - len(some)} others"


def _likeness(name: str, choice: str) -> float:
    """Similarity of the least similar parts, 0 to 1."""
    given, parts = _BETWEEN_PARTS.split(name), _BETWEEN_PARTS.split(choice)
    if len(given) == len(parts):
        return min(map(_ratio, given, parts))
    return max(_ratio(name, part) for part in (choice, *parts))


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()

"""The nearest valid names for one that does not exist."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest

_BETWEEN_PARTS = re.compile(r"[|/]|__")
_ALIKE = 0.6


def near(name: str, choices: Iterable[str], most: int = 1) -> list[str]:
    """The choices similar to `name`, the most similar first.

    Names of several parts, as in `flux|animals` or `vlmbias__answers__gpt`, are compared part by
    part, so that what many of them share does not make them alike.
    """
    likeness = {choice: _likeness(name.lower(), choice.lower()) for choice in choices}
    alike = [choice for choice in likeness if likeness[choice] >= _ALIKE]
    return nlargest(most, alike, key=likeness.__getitem__)


def nearest(name: str, choices: Iterable[str]) -> str:
    """Alternatives to `name`, as the end of a sentence: the nearest, and all."""
    names = list(choices)
    close = near(name, names)
    meant = f", did you mean {close[0]}?" if close else ":"
    return f"{meant} There is {', '.join(names) or 'none'}"


def _likeness(name: str, choice: str) -> float:
    """Similarity of the least similar parts, 0 to 1."""
    given, parts = _BETWEEN_PARTS.split(name), _BETWEEN_PARTS.split(choice)
    if len(given) == len(parts):
        return min(map(_ratio, given, parts))
    return max(_ratio(name, part) for part in (choice, *parts))


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()

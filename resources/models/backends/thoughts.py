"""Thoughts that a provider sends, or bills, apart from a reply: they are no part of its text."""

from collections.abc import Iterable, Mapping
from typing import Any

from resources.models.replies import THOUGHT_CHARACTERS, THOUGHTS_CUT


def describe_thoughts(texts: Iterable[str | None], tokens: int | None = None) -> Mapping[str, Any]:
    """Facts for a reply's provenance: that the provider cut thoughts off, and their characters.

    `tokens` are those that it bills as thoughts; where it sends none of them, their characters are
    unknown. Nothing where there are no thoughts.
    """
    characters = sum(len(text or "") for text in texts)
    if characters:
        return {THOUGHTS_CUT: "by provider", THOUGHT_CHARACTERS: characters}
    return {THOUGHTS_CUT: "by provider"} if tokens else {}

"""Thoughts that a provider sends, or bills, apart from a reply: they are no part of its text."""

from collections.abc import Mapping, Sequence
from typing import Any

from resources.models.replies import THOUGHT_CHARACTERS, THOUGHT_TOKENS, THOUGHTS_CUT


def describe_thoughts(texts: Sequence[str | None], tokens: int | None) -> Mapping[str, Any]:
    """Facts for a reply's provenance: that the provider cut thoughts off, and how long they are.

    `tokens` are the output tokens that it bills as thoughts, None where it does not say. The
    characters of thoughts that are kept back, whose text is None, are unknown.
    """
    facts: dict[str, Any] = {} if tokens is None else {THOUGHT_TOKENS: tokens}
    if texts or tokens:
        facts[THOUGHTS_CUT] = "by provider"
    if characters := sum(len(text or "") for text in texts):
        facts[THOUGHT_CHARACTERS] = characters
    return facts

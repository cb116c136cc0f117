"""Models in the lists of providers and servers, and what the lists say beside their ids."""

import math
from collections.abc import Collection
from typing import NamedTuple

from resources.models.backend_names import Role
from resources.models.entry import Price

READER_ROLES: tuple[Role, ...] = ("writer", "judge", "captioner")
"""Roles of a model that reads text and pictures and answers in text."""
PAINTER_ROLES: tuple[Role, ...] = ("painter", "editor")
_MAX_DOLLARS = 1_000_000


class ListedModel(NamedTuple):
    """A model in a list; None for what the list does not say. No roles: it has none here."""

    id: str
    context_tokens: int | None = None
    """Tokens of a request and its answer together, at most."""
    output_tokens: int | None = None
    roles: tuple[Role, ...] | None = None
    price: Price | None = None


def find_listed_roles(
    inputs: Collection[str] | None, outputs: Collection[str] | None
) -> tuple[Role, ...] | None:
    """The roles of a model that takes and gives what a list says; None where it says nothing.

    Pictures are painted through OpenAI's images alone, which no list of modalities is about.
    """
    if inputs is None or outputs is None:
        return None
    if "text" not in inputs or "text" not in outputs:
        return ()
    return READER_ROLES if "image" in inputs else ("writer",)


def to_listed_price(input_dollars: str | None, output_dollars: str | None) -> Price | None:
    """The price of a list that has dollars per token; None where it has none, or no numbers."""
    try:
        per_token = [float(text or "") for text in (input_dollars, output_dollars)]
    except ValueError:
        return None
    per_million = [round(price * 1e6, 6) for price in per_token if math.isfinite(price)]
    if len(per_million) < 2 or not all(0 <= price <= _MAX_DOLLARS for price in per_million):
        return None
    return Price(input_per_million=per_million[0], output_per_million=per_million[1])

"""Filters of a gallery, which a single template prints."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Options = Mapping[str, str]
"""The words for each value."""


class Filter(NamedTuple):
    """A choice of the form above a gallery, by the name that its cards have it under.

    `every` are the words for no choice, where there may be none, and `groups` are options under
    headings of their own.
    """

    label: str
    name: str
    options: Options = MappingProxyType({})
    every: str = ""
    chosen: str = "all"
    groups: Mapping[str, Options] = MappingProxyType({})

"""What the parts of a taxonomy have to do with one another."""

from collections.abc import Iterator
from typing import TypeAlias

from generators.prompts.taxonomy import Taxonomy

Path: TypeAlias = tuple[str | int, ...]


def problems(taxonomy: Taxonomy) -> Iterator[tuple[Path, str]]:
    """What is wrong with a taxonomy whose form is right: where, and the remedy."""
    yield from ()

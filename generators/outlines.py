"""Outlines of what was changed in one image, made by worker processes for a report."""

from collections.abc import Sequence

from generators.domains import Box, domain
from generators.work import Drawing


def outline_of(drawing: Drawing) -> Sequence[Box]:
    """Where a counterfactual was changed."""
    return domain(drawing.topic).outline(drawing.scene, drawing.size)

"""Outlines of what was changed in one image, made by worker processes for a report."""

from collections.abc import Sequence

from generators.domains import OutlineBox, load_domain
from generators.worker_jobs import DrawJob


def find_drawing_outline(drawing: DrawJob) -> Sequence[OutlineBox]:
    """The boxes around what was changed in a counterfactual."""
    return load_domain(drawing.topic).find_outline(drawing.scene, drawing.size)

"""What each writer would be asked, if the flags that it edits were materialized now."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from assets.kit.limits import Limited
from assets.kit.plan import Plan, PlanContext, Planners
from assets.vlmbias.answers import is_reference
from assets.vlmbias.common import edited_by
from assets.vlmbias.svg_flags import edits
from resources.models.catalog import Catalog, Model


def planners(catalog: Catalog) -> Planners:
    """By asset of edited flags: what its writer would be asked."""
    return {
        edited_by(writer.name): partial(_plans, writer)
        for writer in catalog.with_role("writer")
        if not is_reference(writer)
    }


def _plans(
    model: Model, sources: PlanContext, partition: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    yield Plan(model, requests=[request for _, request in edits(Limited(**config).limit).values()])

"""What painters and filters would be asked, if their step was materialized now."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from assets.chosen import chosen
from assets.partitions import painter_and_topic
from assets.pictured import Row
from assets.plans import Desk, Plan, Planners
from assets.protobias.common import key
from assets.protobias.filtered import Filtering
from assets.protobias.filters import filter_of, look_at, reads_pixels
from assets.protobias.pairs import IMAGE_PAIRS, Pairing, wanted_of
from assets.protobias.triplet_planning import triplets_of
from resources.models.catalog import Catalog
from resources.models.requests import Look, Paint, call_keys

_TRIPLETS, _PAIRS, _FILTERED = key("prompt_triplets"), key("image_pairs"), key("filtered_pairs")
_SOME_PICTURE = "0" * 64
"""Stands for the name of a picture that is not there yet."""


def planners(catalog: Catalog) -> Planners:
    """By asset: what the painters and filters of a catalog would be asked for it."""
    return {_PAIRS: partial(_painting, catalog), _FILTERED: partial(_filtering, catalog)}


def _painting(
    catalog: Catalog, desk: Desk, where: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain as soon as it is known which triplets there will be."""
    name, domain = painter_and_topic(where)
    painter, pairing = chosen(catalog, name, "painter"), Pairing(**config)
    triplets = triplets_of(catalog, desk, domain)
    if triplets is None:
        yield Plan(painter, missing=_TRIPLETS.to_user_string())
    else:
        yield Plan(painter, [each.request for each in wanted_of(painter, triplets, pairing)])


def _filtering(
    catalog: Catalog, desk: Desk, where: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain for each picture that is there and stays; later for one that may yet be painted."""
    name, _ = painter_and_topic(where)
    judge = filter_of(catalog, chosen(catalog, name, "painter"), Filtering(**config).filter)
    if reads_pixels(judge):
        return
    rows = _rows(desk, where)
    planned = desk.together.get((_PAIRS, where), {} if rows is None else None)
    if planned is None:
        certain = [row for row in rows or [] if row["outcome"] == "painted"]
        later = [row["prompt"] for row in rows or [] if row["outcome"] == "failed"]
    else:
        (plan,) = _painting(catalog, desk, where, planned)
        if plan.missing is not None:
            yield Plan(judge, missing=plan.missing)
            return
        # By the key of the call that painted it, which is the last one behind its row.
        ended = {row["calls"][-1]: row for row in rows or [] if row["outcome"] != "failed"}
        requests = [request for request in plan.requests if isinstance(request, Paint)]
        keys = call_keys(plan.model, requests)
        others = ended.keys() != set(keys)
        certain = [ended[each] for each in keys if each in ended]
        certain = [row for row in certain if row["outcome"] == "painted"]
        later = [
            request.prompt
            for each, request in zip(keys, requests, strict=True)
            if each not in ended or (others and _is_flawed_beside(ended[each]))
        ]
    yield Plan(
        judge,
        requests=[look_at(row["prompt"], row["sha256"]) for row in certain],
        later=_looks(later),
    )


def _is_flawed_beside(row: Row) -> bool:
    """Whether a picture is of no use because of what others are, and so may be beside others."""
    return row["flaw"] not in (None, "blank")


def _looks(prompts: list[str]) -> Iterator[Look]:
    """A look at each picture that is not there yet."""
    for prompt in prompts:
        yield look_at(prompt, _SOME_PICTURE)


def _rows(desk: Desk, where: str) -> list[Row] | None:
    """What was painted before; None where nothing ever was."""
    painter, domain = painter_and_topic(where)
    try:
        table = desk.home.table(_PAIRS, f"{painter}/{domain}")
    except FileNotFoundError:
        return None
    return [*IMAGE_PAIRS.rows(table)]

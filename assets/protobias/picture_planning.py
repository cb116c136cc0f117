"""What painters and filters would be asked, if their step was materialized now."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from assets.kit.choice import chosen
from assets.kit.pictures import Row
from assets.kit.plan import Plan, PlanContext, Planners, Whole
from assets.protobias.common import key
from assets.protobias.filtered import Filtering
from assets.protobias.filters import family_warning, filter_of, look_at, reads_pixels
from assets.protobias.pairs import IMAGE_PAIRS, SIDES, Pairing, Wanted, wanted_of
from assets.protobias.partitions import domain_and_painter
from assets.protobias.scoring import scorers
from assets.protobias.selection import first_pairs
from assets.protobias.triplet_planning import triplets_of, whole_sample
from generators.prompts.sampling import SIZES
from resources.models.catalog import Catalog, Model
from resources.models.legacy_keys import stored_keys
from resources.models.requests import Look, Paint

_TRIPLETS, _PAIRS, _FILTERED = key("prompt_triplets"), key("image_pairs"), key("filtered_pairs")
_SOME_PICTURE = "0" * 64
"""Stands for the name of a picture that is not there yet."""


def planners(catalog: Catalog) -> Planners:
    """By asset: what the painters and filters of a catalog would be asked for it."""
    return {_PAIRS: partial(_painting, catalog), _FILTERED: partial(_filtering, catalog)}


def _painting(
    catalog: Catalog, sources: PlanContext, where: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain as soon as it is known which triplets there will be."""
    painter, wanted = wanted_by(catalog, sources, where, config)
    if wanted is None:
        yield Plan(painter, missing=_TRIPLETS.to_user_string())
    else:
        requests = [each.request for each in wanted]
        whole = _whole(sources, where, requests, Pairing(**config).limit)
        yield Plan(painter, requests, whole=whole)


def wanted_by(
    catalog: Catalog, sources: PlanContext, where: str, config: Mapping[str, Any]
) -> tuple[Model, list[Wanted] | None]:
    """The painter, and what it is asked; None where it is not known which triplets there are."""
    domain, name = domain_and_painter(where)
    painter, pairing = chosen(catalog, name, "painter"), Pairing(**config)
    triplets = triplets_of(catalog, sources, domain)
    return painter, None if triplets is None else wanted_of(painter, triplets, pairing)


def _filtering(
    catalog: Catalog, sources: PlanContext, where: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain for each picture that is there and stays; later for one that may yet be painted."""
    _, name = domain_and_painter(where)
    filtering = Filtering(**config)
    judge = filter_of(catalog, chosen(catalog, name, "painter"), filtering.filter)
    if reads_pixels(judge):
        return
    rows = _rows(sources, where)
    planned = sources.together.get((_PAIRS, where), {} if rows is None else None)
    if planned is None:
        some = first_pairs(rows or [], filtering.limit)
        certain = [row for row in some if row["outcome"] == "painted"]
        later = [row["prompt"] for row in some if row["outcome"] == "failed"]
    else:
        painter, wanted = wanted_by(catalog, sources, where, planned)
        if wanted is None:
            yield Plan(judge, missing=_TRIPLETS.to_user_string())
            return
        # By the key of the call that painted it, which is the last one behind its row.
        ended = {row["calls"][-1]: row for row in rows or [] if row["outcome"] != "failed"}
        keys = stored_keys(sources.calls, painter, [each.request for each in wanted])
        others = ended.keys() != set(keys)
        looked_at = [
            (pair["key"], pair["prompt"])
            for pair in first_pairs([*map(as_row, wanted, keys)], filtering.limit)
        ]
        certain = [ended[each] for each, _ in looked_at if each in ended]
        certain = [row for row in certain if row["outcome"] == "painted"]
        later = [
            prompt
            for each, prompt in looked_at
            if each not in ended or (others and _is_flawed_beside(ended[each]))
        ]
    looks = [look_at(row["prompt"], row["sha256"]) for row in certain]
    whole = _whole(sources, where, [*looks, *_looks(later)], filtering.limit)
    warning = family_warning(judge, scorers(catalog))
    yield Plan(judge, requests=looks, later=_looks(later), whole=whole, warning=warning)


def _whole(
    sources: PlanContext, where: str, requests: Sequence[Paint | Look], limit: int | None
) -> Whole | None:
    """As many as the paper has pictures of a domain, each as large as the largest of these."""
    if not requests:
        return None
    domain, _ = domain_and_painter(where)
    number = SIZES[domain] * Pairing().samples * len(SIDES)
    return whole_sample(sources, domain, number, max(requests, key=_words), limit)


def _words(request: Paint | Look) -> int:
    return len(request.prompt if isinstance(request, Paint) else request.turns[0].text)


def as_row(wanted: Wanted, call: str) -> Row:
    """A picture that is to be painted, with the key of its call."""
    named = {"pair_id": wanted.pair_id, "group": wanted.concept.group, "knob": wanted.concept.knob}
    return {**named, "key": call, "prompt": wanted.request.prompt}


def _is_flawed_beside(row: Row) -> bool:
    """Whether a picture is of no use because of what others are, and so may be beside others."""
    return row["flaw"] not in (None, "blank")


def _looks(prompts: list[str]) -> Iterator[Look]:
    """A look at each picture that is not there yet."""
    for prompt in prompts:
        yield look_at(prompt, _SOME_PICTURE)


def _rows(sources: PlanContext, where: str) -> list[Row] | None:
    """What was painted before; None where nothing ever was."""
    try:
        table = sources.home.table(_PAIRS, where)
    except FileNotFoundError:
        return None
    return [*IMAGE_PAIRS.rows(table)]

"""What judges and metrics would be asked, if their scores were materialized now."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from assets.kit.choice import chosen
from assets.kit.columns import records
from assets.kit.limits import Limited
from assets.kit.pictures import Row
from assets.kit.plan import Plan, PlanContext, Planners, Whole
from assets.protobias import picture_planning
from assets.protobias.common import key, scores_of
from assets.protobias.filtered import FILTERED, Filtering, filtered
from assets.protobias.filters import Said, filter_of
from assets.protobias.pairs import SIDES, Pairing
from assets.protobias.partitions import domain_and_painter
from assets.protobias.scored import stored
from assets.protobias.scores import to_evaluate
from assets.protobias.scoring import is_filed, scorers, to_score
from assets.protobias.selection import first_pairs, share_of
from assets.protobias.triplet_planning import triplets_of, whole_sample
from resources.models.catalog import Catalog, Model
from resources.models.legacy_keys import stored_keys

_PAIRS, _FILTERED = key("image_pairs"), key("filtered_pairs")
_SOME_PICTURE = "0" * 64
"""Stands for the name of a picture that is not there yet."""


def planners(catalog: Catalog) -> Planners:
    """By asset of scores: what its model would be asked. A reference or a file asks no model."""
    return {
        scores_of(model.name): partial(_plans, catalog, model)
        for model in scorers(catalog)
        if not (model.rehearses or is_filed(model))
    }


def _plans(
    catalog: Catalog, model: Model, sources: PlanContext, where: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain where the evaluation set is there and stays; else as many as it may be, later."""
    limit = Limited(**config).limit
    domain, _ = domain_and_painter(where)
    pictures = _to_stay(catalog, sources, where)
    if pictures is not None:
        some = first_pairs(pictures, limit)
        requests = [to_score(model, row["text"], row["sha256"]) for row in some]
        longest = max((row["text"] for row in some), key=len, default="")
        yield Plan(model, requests, whole=_whole(sources, model, domain, longest, limit))
        return
    possible = _possible(catalog, sources, where)
    if isinstance(possible, str):
        yield Plan(model, missing=possible)
        return
    pairs, text = possible
    filtering = Filtering(**sources.together.get((_FILTERED, where), {}))
    limits = [each for each in (filtering.limit, limit) if each is not None]
    most = min([share_of(domain, filtering.evaluated), pairs, *limits])
    picture = to_score(model, text, _SOME_PICTURE)
    whole = _whole(sources, model, domain, text, limit)
    yield Plan(model, later=repeat(picture, len(SIDES) * most), whole=whole)


def _whole(
    sources: PlanContext, model: Model, domain: str, text: str, limit: int | None
) -> Whole | None:
    """As many as the paper evaluates of a domain."""
    number = len(SIDES) * share_of(domain, Filtering().evaluated)
    return whole_sample(sources, domain, number, to_score(model, text, _SOME_PICTURE), limit)


def _to_stay(catalog: Catalog, sources: PlanContext, where: str) -> Sequence[Row] | None:
    """The pictures to evaluate once all is materialized; None where that cannot be known yet."""
    _, painter = domain_and_painter(where)
    table = stored(sources.home, where, "filtered_pairs")
    config = sources.together.get((_FILTERED, where))
    if table is None or config is None:
        return None if table is None else to_evaluate(table)
    rows, filtering = FILTERED.rows(table), Filtering(**config)
    judge = filter_of(catalog, chosen(catalog, painter, "painter"), filtering.filter)
    alike = _painted_alike(catalog, sources, where, rows, filtering.limit)
    if not (alike and _looked(catalog, sources, where, rows)):
        return None
    if any(row["filter"] != judge.name for row in rows):
        return None
    said = (
        Said(*(row[f"filter_{name}"] for name in Said._fields))
        for row in rows
        if row["outcome"] == "painted"
    )
    return [row for row in filtered(rows, said, judge, filtering) if row["evaluated"]]


def _painted_alike(
    catalog: Catalog, sources: PlanContext, where: str, rows: Sequence[Row], limit: int | None
) -> bool:
    """Whether these are the very pictures that there are to filter, under its limit."""
    config = sources.together.get((_PAIRS, where))
    if config is None:
        named = ["image_id", "sha256", "outcome"]
        columns = [*named, "pair_id", "group", "knob"]
        table = stored(sources.home, where, "image_pairs", columns=columns)
        pictures = [] if table is None else first_pairs(records(table), limit)
        return [[row[name] for name in named] for row in pictures] == [
            [row[name] for name in named] for row in rows
        ]
    painter_model, wanted = picture_planning.wanted_by(catalog, sources, where, config)
    if wanted is None:
        return False
    keys = stored_keys(sources.calls, painter_model, [each.request for each in wanted])
    pictures = first_pairs([*map(picture_planning.as_row, wanted, keys)], limit)
    # The call that painted it is the last one behind a row; of one that failed there is none.
    return [row["calls"][-1:] for row in rows] == [[picture["key"]] for picture in pictures]


def _looked(catalog: Catalog, sources: PlanContext, where: str, rows: Sequence[Row]) -> bool:
    """Whether the filter has seen all that it will look at."""
    config = sources.together[_FILTERED, where]
    seen = {call for row in rows for call in row["filter_calls"]}
    return all(
        plan.missing is None
        and not any(True for _ in plan.later)
        and seen.issuperset(stored_keys(sources.calls, plan.model, [*plan.requests]))
        for plan in picture_planning.planners(catalog)[_FILTERED](sources, where, config)
    )


def _possible(catalog: Catalog, sources: PlanContext, where: str) -> tuple[int, str] | str:
    """How many pairs there may be, and the longest text of one; or what is missing to say so."""
    domain, _ = domain_and_painter(where)
    pictures = stored(sources.home, where, "image_pairs", columns=["pair_id", "text"])
    config = sources.together.get((_PAIRS, where), {} if pictures is None else None)
    if config is None and pictures is not None:
        return pictures["pair_id"].nunique(), max(pictures["text"], key=len, default="")
    triplets = triplets_of(catalog, sources, domain)
    if triplets is None:
        return key("prompt_triplets").to_user_string()
    texts, pairing = [triplet.text for _, triplet in triplets], Pairing(**config or {})
    pairs = min(len(texts) * pairing.samples, pairing.limit or math.inf)
    return int(pairs), max(texts, key=len, default="")

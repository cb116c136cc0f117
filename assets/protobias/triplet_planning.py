"""What a writer would be asked, if prompt triplets were materialized now."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from assets.kit.choice import chosen
from assets.kit.limits import first_of
from assets.kit.plan import Plan, PlanContext, Planners, Whole
from assets.planning.repairs import longest_repair
from assets.protobias.common import key
from assets.protobias.concepts import CONCEPTS, Sampling, concept_of, concepts_told, drawn
from assets.protobias.own import own_of, templates_of
from assets.protobias.triplets import Writing, accepted, placed_concept
from assets.protobias.writing import MOST_SAID, REASKS, Draft, asked_again, draft_of
from generators.prompts.concepts import Concept, Triplet
from generators.prompts.grammar import NotUnderstood, triplet
from generators.prompts.sampling import SIZES
from resources.models.catalog import Catalog, Model
from resources.models.legacy_keys import stored_keys
from resources.models.outcomes import Answered, Malformed, Outcome, Refused, outcome_of, repaired
from resources.models.pricing import longest_output
from resources.models.requests import Request, Write

_CONCEPTS, _TRIPLETS = key("concepts"), key("prompt_triplets")


class _Foreseen(NamedTuple):
    """What is asked for certain, and where that leads."""

    requests: list[Write]
    open: list[Draft]
    """Those whose next request has no answer yet."""
    ended: dict[int, Draft]
    """Those of which all is answered, by the place of their concept."""


def planners(catalog: Catalog) -> Planners:
    """By asset: what the writers of a catalog would be asked for it."""
    return {_TRIPLETS: partial(_writing, catalog)}


def triplets_of(
    catalog: Catalog, sources: PlanContext, domain: str
) -> list[tuple[Concept, Triplet]] | None:
    """The triplets that there are to paint once all that is planned is materialized.

    None where nobody can know yet: they were never written, or a model has to be asked before.
    Raises `Mismatch` as `accepted` does.
    """
    config = sources.together.get((_TRIPLETS, domain))
    if config is None:
        try:
            return accepted(sources.home.table(_TRIPLETS, domain))
        except FileNotFoundError:
            return None
    concepts = _to_write(sources, domain, config)
    if concepts is None:
        return None
    found = _foreseen(sources, _writer(catalog, config), concepts, config)
    if found.open:
        return None
    drafts = (found.ended[place] for place in range(len(concepts)))
    return [
        (draft.concept, draft.triplet)
        for draft in drafts
        if draft.outcome == "accepted" and draft.triplet is not None
    ] + own_of(Writing(**config).triplets_file, domain).triplets


def whole_sample(
    sources: PlanContext, domain: str, number: int, request: Request, limit: int | None = None
) -> Whole | None:
    """What a step would ask of the paper's sample: so many requests.

    None where there are no fewer concepts, or no triplets any more that tell of how many.

    `limit` is that of the step itself.
    """
    config = sources.together.get((_TRIPLETS, domain))
    if config is None:
        try:
            drawn = len(sources.home.table(_TRIPLETS, domain, ["concept_id"]))
        except FileNotFoundError:
            return None
    else:
        drawn = len(_to_write(sources, domain, config) or ())
    concepts = min(drawn, limit or drawn)
    if concepts >= SIZES[domain]:
        return None
    return Whole(concepts_told(concepts, domain), number, request)


def concepts_of(sources: PlanContext, domain: str) -> list[Concept] | None:
    """The concepts that there are once all that is planned is materialized; None for none yet."""
    config = sources.together.get((_CONCEPTS, domain))
    if config is not None:
        return list(drawn(sources.home, domain, Sampling(**config)))
    try:
        table = sources.home.table(_CONCEPTS, domain)
    except FileNotFoundError:
        return None
    return [concept_of(row) for row in CONCEPTS.rows(table)]


def _to_write(sources: PlanContext, domain: str, config: Mapping[str, Any]) -> list[Concept] | None:
    """The concepts that a writer is asked about; None for none yet."""
    concepts = concepts_of(sources, domain)
    limit = Writing(**config).limit
    return None if concepts is None else first_of(concepts, limit, placed_concept)


def _writing(
    catalog: Catalog, sources: PlanContext, domain: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    """Certain is what is asked first, and again where the stored answer breaks a rule."""
    writer, concepts = _writer(catalog, config), _to_write(sources, domain, config)
    if concepts is None:
        yield Plan(writer, missing=_CONCEPTS.to_user_string())
        return
    found = _foreseen(sources, writer, concepts, config)
    later = (request for draft in found.open for request in _later(draft))
    yield Plan(writer, found.requests, later)


def _writer(catalog: Catalog, config: Mapping[str, Any]) -> Model:
    return chosen(catalog, Writing(**config).writer, "writer")


def _foreseen(
    sources: PlanContext, writer: Model, concepts: Sequence[Concept], config: Mapping[str, Any]
) -> _Foreseen:
    """Follow each conversation as far as it is stored."""
    found = _Foreseen([], [], {})
    templates = templates_of(Writing(**config).templates_file, writer)
    drafts = {place: draft_of(writer, each, templates) for place, each in enumerate(concepts)}
    while drafts:
        requests = [draft.request for draft in drafts.values()]
        found.requests.extend(requests)
        outcomes = zip(drafts.items(), _outcomes(sources, writer, requests), strict=True)
        drafts = {}
        for (place, draft), outcome in outcomes:
            if outcome is None:
                found.open.append(draft)
                continue
            now = draft.after(outcome, ())
            (drafts if now.outcome is None else found.ended)[place] = now
    return found


def _outcomes(
    sources: PlanContext, writer: Model, requests: Sequence[Write]
) -> list[Outcome | None]:
    """The outcome of each request, stored or certain without a model; None where unknown."""
    if writer.backend == "offline":
        return [_by_grammar(request) for request in requests]
    first = _stored(sources, writer, requests)
    repairs = {
        place: repaired(request, outcome)
        for place, (request, outcome) in enumerate(zip(requests, first, strict=True))
        if isinstance(outcome, Malformed) and not outcome.unreadable
    }
    mended = dict(zip(repairs, _stored(sources, writer, list(repairs.values())), strict=True))
    return [mended.get(place, outcome) for place, outcome in enumerate(first)]


def _stored(sources: PlanContext, writer: Model, requests: Sequence[Write]) -> list[Outcome | None]:
    keys = stored_keys(sources.calls, writer, requests)
    calls = sources.calls.answers(keys)
    return [
        outcome_of(calls[key], request) if key in calls else None
        for key, request in zip(keys, requests, strict=True)
    ]


def _by_grammar(request: Write) -> Outcome:
    """What our own writer says, which nobody has to ask to know."""
    try:
        data = triplet(json.loads(request.turns[-1].text))
    except NotUnderstood as why:
        return Refused("model", str(why))
    return Answered(json.dumps(data), data=data)


def _later(draft: Draft) -> Iterator[Write]:
    """What may follow a request that is not answered yet, each as large as it can be.

    What asks again may itself be asked again, once, for JSON that follows the schema; of the first
    request a quote counts that by itself.
    """
    said, request = "?" * (longest_output(draft.writer) or 0), draft.request
    for _ in range(draft.attempts, REASKS):
        request = asked_again(request, said, "?" * MOST_SAID)
        yield request
        repair = longest_repair(draft.writer, request)
        if repair is not None:
            yield repair

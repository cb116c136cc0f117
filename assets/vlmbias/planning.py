"""What each judge would be asked, if its answers were materialized now."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.kit.plan import Plan, PlanContext, Planners
from assets.vlmbias.answers import ANSWERS, asked_of, is_reference, put_to
from assets.vlmbias.common import GROUP, answers_of
from assets.vlmbias.looking import first_look, reply_in, second_look
from assets.vlmbias.prompting import VARIANTS, Posed, Prompting
from resources.models.catalog import Catalog, Model
from resources.models.legacy_keys import stored_keys
from resources.models.outcomes import outcome_of
from resources.models.pricing import longest_output
from resources.models.requests import Look

_QUESTIONS = AssetKey([GROUP, "questions"])
_PUT = ["sha256", "domain", "subject", "question_id", "question"]
"""The columns of which a request is made."""
_AT_ONCE = 1000
_NO_TABLE = ANSWERS.table([])


def planners(catalog: Catalog) -> Planners:
    """By asset of answers: what its judge would be asked. A reference judge asks no model."""
    return {
        answers_of(judge.name): partial(_plans, judge)
        for judge in catalog.with_role("judge")
        if not is_reference(judge)
    }


def _plans(
    model: Model, sources: PlanContext, topic: str, config: Mapping[str, Any]
) -> Iterator[Plan]:
    asking = Prompting(**config)
    columns = _PUT if asking.limit is None else None
    try:
        questions = sources.home.table(_QUESTIONS, topic, columns)
    except FileNotFoundError:
        yield Plan(model, missing=_QUESTIONS.to_user_string())
        return
    wanted = {
        name: asked_of(model, questions, name, asking.limit)[_PUT] for name in asking.prompting
    }
    twice = {name: asked for name, asked in wanted.items() if VARIANTS[name].follow_up}
    yield Plan(
        model,
        requests=_certain(model, sources, _posed(model, sources, wanted)),
        later=_later(model, sources, _posed(model, sources, twice)),
    )


def _posed(
    model: Model, sources: PlanContext, wanted: Mapping[str, pd.DataFrame]
) -> Iterator[list[Posed]]:
    """What the asset puts to its judge, so many questions at once, however many there are."""
    for prompting, questions in wanted.items():
        for start in range(0, len(questions), _AT_ONCE):
            some = questions.iloc[start : start + _AT_ONCE]
            yield put_to(
                model, some, [prompting], _NO_TABLE.to_pandas(), sources.images, sources.ledger
            )


def _certain(model: Model, sources: PlanContext, posed: Iterator[list[Posed]]) -> Iterator[Look]:
    """First turns, and second ones where what they come back to is stored."""
    for some in posed:
        yield from map(first_look, some)
        firsts = _firsts(model, sources, [put for put in some if put.follow_up])
        for key, call in sources.calls.known(firsts).items():
            put = firsts[key]
            reply = reply_in(outcome_of(call, first_look(put)))
            if reply is not None:
                yield second_look(put, reply)


def _later(model: Model, sources: PlanContext, posed: Iterator[list[Posed]]) -> Iterator[Look]:
    """Second turns whose first has not been answered, with the longest reply that it can have."""
    reply = _longest_reply(model)
    for some in posed:
        firsts = _firsts(model, sources, some)
        stored = sources.calls.holds(firsts)
        for key, put in firsts.items():
            if key not in stored:
                yield second_look(put, reply)


def _firsts(model: Model, sources: PlanContext, some: Sequence[Posed]) -> dict[str, Posed]:
    """By the key of its first turn."""
    keys = stored_keys(sources.calls, model, [first_look(put) for put in some])
    return dict(zip(keys, some, strict=True))


def _longest_reply(model: Model) -> str:
    """Words that are bound to count for as many tokens as the model's longest answer has.

    Where that is unknown, so is the bound of the first turn.
    """
    return "?" * (longest_output(model) or 0)

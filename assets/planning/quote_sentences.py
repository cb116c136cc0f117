"""A quote in sentences: how many requests a model gets, and what they cost."""

import math
from collections.abc import Iterator

from assets.planning.lines import QuoteLine
from assets.planning.prices import Amount
from resources.calls.spending import NANO
from resources.models.image_checks import REMEDY

_NANO_PER_CENT = NANO // 100


def describe_total(total: QuoteLine, model_name: str) -> str:
    """Describe a total in a sentence, with dollars rounded to cents, and the highest cost up.

    Such as "3,654 requests to X: about $4.10, at most $30.70, 120 answers are there already and
    cost nothing."
    """
    price, further = total.prices["online"], total.follow_ups
    if total.missing_asset is not None and not total.requests:
        return f"Requests to {model_name} cannot be counted yet."
    count = _count(total.requests, "request", "requests")
    if total.missing_asset is not None:
        count = f"At least {count}"
    if further:
        count += f", and up to {further:,} that depend on answers to come,"
    clauses = [*_describe_cost(total, price.expected, price.bound), *_describe_answers(total)]
    return f"{count} to {model_name}: {', '.join(clauses)}."


def describe_oversized(line: QuoteLine, source: str) -> str:
    """Say how many requests of a source show a picture beyond a limit of their model."""
    return (
        f"{line.model.name}: {line.oversized:,} of {line.requests:,} requests of {source} are not "
        f"sent, and fail: their pictures exceed its limits, such as {line.excess}. {REMEDY}"
    )


def _describe_cost(total: QuoteLine, expected: Amount, bound: Amount) -> Iterator[str]:
    if not total.to_send and not total.follow_ups:
        yield "nothing is left to send"
    elif expected.unknown and bound.unknown:
        yield "the cost is unknown"
    elif not bound.nano and not bound.unknown:
        yield "free"
    elif expected.unknown:
        yield _format_bound(bound)
        yield "and a trial shows what is likely"
    else:
        prefix = "up to about " if total.follow_ups else "about "
        cents = round(expected.nano / _NANO_PER_CENT)
        yield f"{prefix if cents else ''}{_format_cents(cents)}"
        yield _format_bound(bound)


def _format_bound(bound: Amount) -> str:
    if bound.unknown:
        return "without a known limit"
    return f"at most {_format_cents(math.ceil(bound.nano / _NANO_PER_CENT))}"


def _describe_answers(total: QuoteLine) -> Iterator[str]:
    if total.stored:
        verb, cost = ("is", "costs") if total.stored == 1 else ("are", "cost")
        answers = _count(total.stored, "answer", "answers")
        yield f"{answers} {verb} there already and {cost} nothing"
    if total.in_batch:
        yield f"{total.in_batch:,} in a batch that is on its way"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _format_cents(cents: int) -> str:
    return f"${cents / 100:,.2f}" if cents else "less than a cent"

"""Prices of requests: what is expected and at most, summed up for the lines of a quote."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

from resources.calls import CallStore
from resources.calls.spending import Mode
from resources.models.catalog import Model
from resources.models.price_gaps import missing_fields, why_unpriced
from resources.models.pricing import (
    Sizes,
    cost_of,
    expected_usage,
    images_of,
    most_for_pictures,
    most_usage,
    shape_of,
)
from resources.models.replies import Usage
from resources.models.requests import Request, head, kind_of

_SOMETHING = Usage(1, 1, 1.0)
_FIRST = {
    "write": "a text",
    "look": "an answer about a picture",
    "paint": "a painted picture",
    "edit": "an edited picture",
    "score": "a score",
}
"""What a model has to have given once, by the kind of request."""


@dataclass(slots=True)
class Amount:
    """Billionths of a dollar; where some of it is unknown, `unknown` says why."""

    nano: int = 0
    unknown: set[str] = field(default_factory=set)

    def add(self, nano: int | None, why: Callable[[], str], times: int = 1) -> None:
        """Add what so many requests cost each; `why` tells the reason where that is None."""
        if nano is None:
            self.unknown.add(why())
        else:
            self.nano += nano * times

    def take(self, other: "Amount", times: int = 1) -> None:
        """Add another amount, so many times."""
        self.nano += times * other.nano
        self.unknown |= other.unknown


@dataclass(slots=True)
class Price:
    """Of all that is to be sent, now and later: what it is expected to cost, and at most."""

    expected: Amount = field(default_factory=Amount)
    bound: Amount = field(default_factory=Amount)
    guessed: bool = False
    """Whether some of what is expected goes by no answer of the model's."""
    pictured: int = 0
    """Of the bound, billionths for pictures that the model is shown."""
    per_picture: int = 0
    """The most tokens that one of them counts for in the bound."""
    least: int | None = None
    """The smallest bound of a request, in billionths; None where none is known."""
    missing_fields: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields of models.yaml without which the bound is unknown, each with what to add."""

    def take(self, other: "Price") -> None:
        """Add what other requests cost."""
        self.expected.take(other.expected)
        self.bound.take(other.bound)
        self.missing_fields |= other.missing_fields
        bounds = [least for least in (self.least, other.least) if least is not None]
        self.least = min(bounds, default=None)


class Priced(Protocol):
    """What prices are added to."""

    prices: dict[Mode, Price]


class _Cost(NamedTuple):
    """What a request costs, in the terms of `Price`."""

    expected: int | None
    bound: int | None
    guessed: bool
    pictured: int
    per_picture: int


class Pricing:
    """Prices requests one by one, with what it has looked up once for all that are alike."""

    def __init__(self, calls: CallStore) -> None:
        self._calls = calls
        self.sizes: Sizes = {}
        """Of the pictures that are shown by what is priced just now."""
        self._costs: dict[tuple[str, Mode, tuple[Any, ...]], _Cost] = {}
        """By model, mode and shape of a request."""
        self._typical: dict[tuple[str, str], Usage | None] = {}
        """By model and kind: what its latest answers used."""

    def pay(self, model: Model, request: Request, lines: Sequence[Priced], times: int = 1) -> None:
        """Add what so many requests that are alike cost to the prices of some lines."""
        shape = shape_of(request, self.sizes)
        for mode in lines[0].prices:
            like = model.name, mode, shape
            if like not in self._costs:
                self._costs[like] = self._cost(model, request, mode)
            expected, bound, guessed, pictured, per_picture = self._costs[like]
            for line in lines:
                price = line.prices[mode]
                price.bound.add(bound, partial(_why_unbounded, model, request, mode), times)
                price.expected.add(expected, partial(_why_unexpected, model, request, mode), times)
                price.guessed |= guessed
                price.pictured += pictured * times
                price.per_picture = max(price.per_picture, per_picture)
                if bound is None:
                    price.missing_fields |= missing_fields(model, request, mode)
                elif price.least is None or bound < price.least:
                    price.least = bound

    def _cost(self, model: Model, request: Request, mode: Mode) -> _Cost:
        """What a request costs, the same for all of its shape."""
        most = most_usage(model, request, self.sizes)
        pictured = Usage(most_for_pictures(model, request, self.sizes), 0, 0.0)
        typical = self._typically(model, request)
        usage = typical or expected_usage(model, request, self.sizes)
        expected = None if usage is None else cost_of(model, request, usage, mode)
        of_pictures = cost_of(model, request, pictured, mode) if pictured.input_tokens else 0
        return _Cost(
            expected,
            cost_of(model, request, most, mode),
            guessed=typical is None and expected is not None,
            pictured=of_pictures or 0,
            per_picture=(pictured.input_tokens or 0) // max(1, len(images_of(request))),
        )

    def _typically(self, model: Model, request: Request) -> Usage | None:
        """What the model's latest answers of a kind used, the same for all; None if none are."""
        like = model.name, kind_of(request)
        if like not in self._typical:
            typical = self._calls.typical_usage(head(model, kind_of(request)))
            self._typical[like] = typical and Usage(
                round(typical.input_tokens), round(typical.output_tokens)
            )
        return self._typical[like]


def prices_of(model: Model) -> dict[Mode, Price]:
    """Prices to add to: online, and as a batch where the model has a price of that."""
    modes: list[Mode] = ["online"] if model.price.batch_share is None else ["online", "batch"]
    return {mode: Price() for mode in modes}


def _why_unbounded(model: Model, request: Request, mode: Mode) -> str:
    return f"{why_unpriced(model, request, mode)} in models.yaml"


def _why_unexpected(model: Model, request: Request, mode: Mode) -> str:
    if cost_of(model, request, _SOMETHING, mode) is None:
        return _why_unbounded(model, request, mode)
    if model.price.per_gpu_hour is not None:
        return "a run that shows how long it takes"
    if images_of(request) and expected_usage(model, request) is None:
        return (
            f"{_FIRST[kind_of(request)]} of its own, or image_tokens in models.yaml: how many "
            "tokens it counts for a picture is not published"
        )
    return f"{_FIRST[kind_of(request)]} of its own, or longest_output in models.yaml"

"""Prices of requests: what is expected and at most, summed up for the lines of a quote."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

from assets.kit.spared_requests import find_typical_usage
from resources.calls import CallStore
from resources.calls.spending import Mode
from resources.models.catalog import Model
from resources.models.price_gaps import describe_missing_fields, find_missing_fields
from resources.models.pricing import (
    Sizes,
    compute_cost,
    compute_most_usage,
    count_most_picture_tokens,
    estimate_usage,
    list_images,
    to_request_shape,
)
from resources.models.replies import Usage
from resources.models.requests import Request, get_request_kind

_SOMETHING = Usage(1, 1, 1.0)
_REPLY_NAMES = {
    "write": "a text",
    "look": "an answer about a picture",
    "paint": "a painted picture",
    "edit": "an edited picture",
    "score": "a score",
}
"""What a model must have answered once, in words, by kind of request."""


@dataclass(slots=True)
class Amount:
    """Billionths of a dollar; `unknown` has the reasons why parts of it are unknown."""

    nano: int = 0
    unknown: set[str] = field(default_factory=set)

    def add(self, nano: int | None, why: Callable[[], str], times: int = 1) -> None:
        """Add the cost of a request `times` times; `why` returns the reason if it is None."""
        if nano is None:
            self.unknown.add(why())
        else:
            self.nano += nano * times

    def add_amount(self, other: "Amount", times: int = 1) -> None:
        """Add another amount, `times` times."""
        self.nano += times * other.nano
        self.unknown |= other.unknown


@dataclass(slots=True)
class QuotePrice:
    """Expected and highest cost of all requests to send, now and later."""

    expected: Amount = field(default_factory=Amount)
    bound: Amount = field(default_factory=Amount)
    is_guess: bool = False
    """Whether the expected cost is not based on the model's own answers alone."""
    picture_nano: int = 0
    """Share of the bound for input pictures, in billionths of a dollar."""
    per_picture: int = 0
    """The most tokens that one of them counts for in the bound."""
    smallest_bound: int | None = None
    """The smallest bound of a request, in billionths; None where none is known."""
    missing_fields: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields of models.yaml without which the bound is unknown, each with what to add."""

    def add(self, other: "QuotePrice") -> None:
        """Add the cost of other requests."""
        self.expected.add_amount(other.expected)
        self.bound.add_amount(other.bound)
        self.missing_fields |= other.missing_fields
        bounds = [
            least for least in (self.smallest_bound, other.smallest_bound) if least is not None
        ]
        self.smallest_bound = min(bounds, default=None)


class HasPrices(Protocol):
    """Line or total to which prices are added."""

    prices: dict[Mode, QuotePrice]


class _Cost(NamedTuple):
    """Cost of a request, in the terms of `QuotePrice`."""

    expected: int | None
    bound: int | None
    guessed: bool
    pictured: int
    per_picture: int


class Pricing:
    """Prices requests one by one; caches costs by model, mode and request shape."""

    def __init__(self, calls: CallStore) -> None:
        self._calls = calls
        self.sizes: Sizes = {}
        """Sizes of the input pictures of the requests being priced."""
        self._costs: dict[tuple[str, Mode, tuple[Any, ...]], _Cost] = {}
        """Costs by model, mode and request shape."""
        self._typical: dict[tuple[str, str], Usage | None] = {}
        """Typical usage of the latest answers, by model and kind."""

    def add_cost(
        self, model: Model, request: Request, lines: Sequence[HasPrices], times: int = 1
    ) -> None:
        """Add the cost of `times` equal requests to the prices of lines."""
        shape = to_request_shape(request, self.sizes)
        for mode in lines[0].prices:
            cache_key = model.name, mode, shape
            if cache_key not in self._costs:
                self._costs[cache_key] = self._cost(model, request, mode)
            expected, bound, guessed, pictured, per_picture = self._costs[cache_key]
            for line in lines:
                price = line.prices[mode]
                price.bound.add(bound, partial(_explain_unbounded, model, request, mode), times)
                price.expected.add(
                    expected, partial(_explain_unexpected, model, request, mode), times
                )
                price.is_guess |= guessed
                price.picture_nano += pictured * times
                price.per_picture = max(price.per_picture, per_picture)
                if bound is None:
                    price.missing_fields |= find_missing_fields(model, request, mode)
                elif price.smallest_bound is None or bound < price.smallest_bound:
                    price.smallest_bound = bound

    def _cost(self, model: Model, request: Request, mode: Mode) -> _Cost:
        """Compute the cost of a request, the same for all of its shape."""
        if model.is_free:
            return _Cost(0, 0, guessed=False, pictured=0, per_picture=0)
        most = compute_most_usage(model, request, self.sizes)
        pictured = Usage(count_most_picture_tokens(model, request, self.sizes), 0, 0.0)
        typical = self._estimate_usage(model, request)
        usage = typical or estimate_usage(model, request, self.sizes)
        expected = None if usage is None else compute_cost(model, request, usage, mode)
        of_pictures = compute_cost(model, request, pictured, mode) if pictured.input_tokens else 0
        return _Cost(
            expected,
            compute_cost(model, request, most, mode),
            guessed=typical is None and expected is not None,
            pictured=of_pictures or 0,
            per_picture=(pictured.input_tokens or 0) // max(1, len(list_images(request))),
        )

    def _estimate_usage(self, model: Model, request: Request) -> Usage | None:
        """Return the typical usage of the model's latest answers of a kind; None without any."""
        cache_key = model.name, get_request_kind(request)
        if cache_key not in self._typical:
            self._typical[cache_key] = find_typical_usage(self._calls, model, request)
        return self._typical[cache_key]


def empty_prices(model: Model) -> dict[Mode, QuotePrice]:
    """Prices to add to: online, and as a batch where the model has a price of that."""
    modes: list[Mode] = ["online"] if model.price.batch_share is None else ["online", "batch"]
    return {mode: QuotePrice() for mode in modes}


def _explain_unbounded(model: Model, request: Request, mode: Mode) -> str:
    return f"{describe_missing_fields(model, request, mode)} in models.yaml"


def _explain_unexpected(model: Model, request: Request, mode: Mode) -> str:
    if compute_cost(model, request, _SOMETHING, mode) is None:
        return _explain_unbounded(model, request, mode)
    if model.price.per_gpu_hour is not None:
        return "a run that shows how long it takes"
    if list_images(request) and estimate_usage(model, request) is None:
        return (
            f"{_REPLY_NAMES[get_request_kind(request)]} of its own, or image_tokens in "
            "models.yaml: how many tokens it counts for a picture is not published"
        )
    return f"{_REPLY_NAMES[get_request_kind(request)]} of its own, or longest_output in models.yaml"

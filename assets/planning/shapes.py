"""Requests by what decides their price, so that many models are quoted the same at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from assets.kit.conversations import longest_repair
from assets.kit.plan import Plan
from assets.kit.step import in_chunks
from assets.planning.lines import Line
from assets.planning.prices import Pricing, prices_of
from resources.calls import CallStore
from resources.images import ImageStore
from resources.models.catalog import Model
from resources.models.pricing import Sizes, images_of, shape_of
from resources.models.requests import Request, call_keys

SOME = 500
"""Of this many requests, and up to twice as many, answers are looked for."""

_Shape: TypeAlias = tuple[Any, ...]


@dataclass(slots=True)
class _Alike:
    """Requests that cost any model the same each: one of them, and how many there are."""

    example: Request
    sizes: Sizes
    certain: int = 0
    later: int = 0


class Shapes:
    """The distinct requests of some plans; each is read once, and few are kept."""

    def __init__(self) -> None:
        self.missing: str | None = None
        self._alike: dict[_Shape, _Alike] = {}
        self._seen: set[int] = set()
        self._some: list[Request] = []
        self._every = 1

    def take(self, plan: Plan, images: ImageStore) -> None:
        """Add the requests of a plan."""
        self.missing = self.missing or plan.missing
        for alike in self._sorted(self._new(plan.requests), images):
            alike.certain += 1
        for alike in self._sorted(plan.later, images):
            alike.later += 1

    def line(self, model: Model, named: str, pricing: Pricing) -> Line:
        """What all of it would take of a model that has answered none."""
        line = Line(named, "", model, missing=self.missing, prices=prices_of(model))
        for alike in self._alike.values():
            pricing.sizes = alike.sizes
            again = longest_repair(model, alike.example) if alike.certain else None
            line.requests += alike.certain
            line.later += alike.later + (alike.certain if again else 0)
            pricing.pay(model, alike.example, (line,), alike.certain + alike.later)
            if again is not None:
                pricing.pay(model, again, (line,), alike.certain)
        return line

    def is_begun(self, calls: CallStore, model: Model) -> bool:
        """Whether any of some requests has an answer of a model, or waits for one in a batch."""
        keys = call_keys(model, self._some)
        return bool(calls.holds(keys) or calls.batches.waiting(keys))

    def _new(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            known = hash(request)
            if known in self._seen:
                continue
            if len(self._seen) % self._every == 0:
                self._some.append(request)
            if len(self._some) == 2 * SOME:
                del self._some[1::2]
                self._every *= 2
            self._seen.add(known)
            yield request

    def _sorted(self, requests: Iterable[Request], images: ImageStore) -> Iterator[_Alike]:
        for some in in_chunks(requests):
            sizes = images.sizes({image for request in some for image in images_of(request)})
            for request in some:
                shown = {image: sizes[image] for image in images_of(request) if image in sizes}
                yield self._alike.setdefault(shape_of(request, sizes), _Alike(request, shown))

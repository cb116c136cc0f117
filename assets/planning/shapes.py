"""Requests by what decides their price, so that many models are quoted the same at once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from assets.kit.conversations import find_longest_repair
from assets.kit.plan import Plan
from assets.planning.lines import QuoteLine
from assets.planning.prices import Pricing, empty_prices
from resources.calls import CallStore
from resources.models.catalog import Model
from resources.models.image_checks import find_limits
from resources.models.image_limits import may_be_heavy
from resources.models.pricing import Sizes, list_images, to_request_shape
from resources.models.requests import Request, compute_call_keys
from resources.storage.chunks import split_into_chunks
from resources.storage.image_store import ImageStore

_ROUND_BYTES = 100_000
SOME = 500
"""Smallest size of the sample of requests whose answers are looked up; the largest is twice it."""

_Shape: TypeAlias = tuple[Any, ...]


@dataclass(slots=True)
class _RequestGroup:
    """Requests of equal price for any model: one as an example, and their numbers."""

    example: Request
    sizes: Sizes
    file_sizes: Mapping[str, int]
    """Bytes of the files that some provider may not take, rounded up."""
    certain: int = 0
    later: int = 0


class Shapes:
    """The distinct requests of some plans; each is read once, and few are kept."""

    def __init__(self) -> None:
        self.missing: str | None = None
        self._groups: dict[_Shape, _RequestGroup] = {}
        self._seen_hashes: set[int] = set()
        self._sample: list[Request] = []
        self._stride = 1

    def add(self, plan: Plan, images: ImageStore) -> None:
        """Add the requests of a plan."""
        self.missing = self.missing or plan.missing_asset
        for group in self._group_by_shape(self._select_new(plan.requests), images):
            group.certain += 1
        for group in self._group_by_shape(plan.possible_requests, images):
            group.later += 1

    def line(self, model: Model, named: str, pricing: Pricing) -> QuoteLine:
        """Build a quote line of all requests, for a model that has answered none."""
        line = QuoteLine(named, "", model, missing_asset=self.missing, prices=empty_prices(model))
        for group in self._groups.values():
            limits, shown = find_limits(model, group.example), list_images(group.example)
            excess = limits.describe_excess(shown, group.sizes, group.file_sizes)
            if excess is not None:
                line.requests += group.certain
                line.oversized += group.certain
                line.excess = line.excess or excess
                continue
            pricing.sizes = group.sizes
            repair = find_longest_repair(model, group.example) if group.certain else None
            line.requests += group.certain
            line.follow_ups += group.later + (group.certain if repair else 0)
            pricing.add_cost(model, group.example, (line,), group.certain + group.later)
            if repair is not None:
                pricing.add_cost(model, repair, (line,), group.certain)
        return line

    def is_begun(self, calls: CallStore, model: Model) -> bool:
        """Return whether any of a sample of requests is answered by a model or waits in a batch."""
        keys = compute_call_keys(model, self._sample)
        return bool(calls.holds(keys) or calls.batches.find_waiting_tags(keys))

    def _select_new(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            request_hash = hash(request)
            if request_hash in self._seen_hashes:
                continue
            if len(self._seen_hashes) % self._stride == 0:
                self._sample.append(request)
            if len(self._sample) == 2 * SOME:
                del self._sample[1::2]
                self._stride *= 2
            self._seen_hashes.add(request_hash)
            yield request

    def _group_by_shape(
        self, requests: Iterable[Request], images: ImageStore
    ) -> Iterator[_RequestGroup]:
        for chunk in split_into_chunks(requests):
            sizes = images.sizes({image for request in chunk for image in list_images(request)})
            heavy = images.file_sizes([name for name, size in sizes.items() if may_be_heavy(size)])
            rounded = {
                name: -(-size // _ROUND_BYTES) * _ROUND_BYTES for name, size in heavy.items()
            }
            for request in chunk:
                names = list_images(request)
                shown = {name: sizes[name] for name in names if name in sizes}
                files = {name: rounded[name] for name in names if name in rounded}
                yield self._groups.setdefault(
                    (*to_request_shape(request, sizes), *files.values()),
                    _RequestGroup(request, shown, files),
                )

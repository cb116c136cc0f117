"""The counting of a quote: requests are looked up and priced in chunks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from assets.kit.conversations import build_repair, find_longest_repair
from assets.kit.model_lookup import NoSuchModel
from assets.kit.pair_marks import BadMarks
from assets.kit.plan import Plan, PlanContext, Planners
from assets.kit.spared_requests import SparedRequests, count_spared
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.planning.prices import Pricing, QuotePrice, empty_prices
from assets.planning.quote_selection import CannotQuote, Task, to_planned_configs
from resources.calls.spending import Mode
from resources.models.backends.adapters import BadRecord
from resources.models.catalog import Model
from resources.models.image_checks import find_excesses
from resources.models.manifests import ManifestError
from resources.models.outcomes import read_outcome
from resources.models.pricing import list_images
from resources.models.requests import Request, WriteRequest, compute_call_keys, is_painted
from resources.settings.run_config import BadConfig
from resources.storage.chunks import split_into_chunks

REFUSALS = (NoSuchModel, ManifestError, TablesMismatch, NotMaterialized, BadMarks, BadRecord)
"""Errors for which a quote leaves out a partition: a missing model or painter's manifest, tables
that a run refuses together, such as pictures that a judge was trained on, or a table whose rows
have nothing for the partition."""


@dataclass(slots=True)
class QuoteLine:
    """Requests of one partition of an asset to one model; in a total, those of all partitions.

    Of the distinct `requests`, some are `stored` and some are `in_batch`; `to_send` are the others.
    `follow_ups` is an upper bound of those that depend on replies not yet received.
    `missing_asset` has to be materialized before requests can be counted, where it is set.
    Of those to send, `unpainted` are known to fail: a folder of pictures lacks them. Not sent are
    `oversized` ones, whose pictures exceed a limit of the model, as `excess` of one says, and
    `unanswerable` ones: no log of an imported judge has them.
    `spared` ones are no requests: the verdict of a rule is certain.
    """

    asset: str
    partition: str
    model: Model
    requests: int = 0
    stored: int = 0
    in_batch: int = 0
    follow_ups: int = 0
    unpainted: int = 0
    unanswerable: int = 0
    oversized: int = 0
    excess: str = ""
    spared: SparedRequests = field(default_factory=SparedRequests)
    missing_asset: str | None = None
    prices: dict[Mode, QuotePrice] = field(default_factory=dict)

    @property
    def to_send(self) -> int:
        """Number of requests to send now."""
        unsent = self.stored + self.in_batch + self.oversized + self.unanswerable
        return self.requests - unsent


class SampledStep(NamedTuple):
    """A step of a sample that is smaller than the paper's, and the price of the paper's."""

    partition: str
    description: str
    request_count: int
    price: QuotePrice
    """Price of one request sent online."""


class Quote(NamedTuple):
    """Lines by asset, partition and model, with totals by model.

    A request that several lines share is counted once in the total. `refused_tasks` tells of
    partitions that lack a model or a painter's manifest, or that a run would refuse, by the reason,
    and `warnings` of what planners found.
    """

    lines: list[QuoteLine]
    totals: list[QuoteLine]
    refused_tasks: Mapping[str, Sequence[Task]] = MappingProxyType({})
    samples: Sequence[SampledStep] = ()
    warnings: Sequence[str] = ()

    @property
    def is_free(self) -> bool:
        """True if the requests are certain to cost nothing."""
        bounds = [line.prices["online"].bound for line in self.lines]
        is_counted = all(line.missing_asset is None for line in self.lines)
        return is_counted and not any(bound.nano or bound.unknown for bound in bounds)


def quote_tasks(planners: Planners, sources: PlanContext, tasks: Sequence[Task]) -> Quote:
    """Quote the requests that materialize partitions of assets; nothing is sent or stored.

    Only half the key is kept of each request that is in none of the stores. Raises
    `CannotQuote` where the run config of an op is not what it takes or names no model that can
    serve, and where every task lacks a model, or a painter's manifest, or would be refused.
    """
    sources = sources.with_planned({**sources.planned_configs, **to_planned_configs(tasks)})
    builder, refused = _QuoteBuilder(sources), defaultdict[str, list[Task]](list)
    for number, task in enumerate(tasks):
        try:
            for plan in planners[task.asset](sources, task.partition, task.config):
                builder.add_plan(number, task, plan)
        except REFUSALS as why:
            builder.leave_out(number)
            refused[str(why)].append(task)
            is_of_config = task.config and isinstance(why, NoSuchModel)
            if is_of_config or sum(map(len, refused.values())) == len(tasks):
                raise CannotQuote(f"{task.asset.to_user_string()}: {why}") from None
        except BadConfig as why:
            raise CannotQuote(f"{task.asset.to_python_identifier()}: {why}") from None
    return Quote(
        lines=list(builder.lines.values()),
        totals=list(builder.totals.values()),
        refused_tasks=refused,
        samples=builder.samples,
        warnings=list(builder.warnings),
    )


class _QuoteBuilder:
    """Collects the lines of a quote."""

    def __init__(self, sources: PlanContext) -> None:
        self.lines: dict[tuple[int, str], QuoteLine] = {}
        self.totals: dict[str, QuoteLine] = {}
        self.samples: list[SampledStep] = []
        self.warnings: dict[str, None] = {}
        self._calls = sources.calls
        self._images = sources.images
        self._pricing = Pricing(sources.calls)
        self._last_seen: dict[bytes, int] = {}
        """Number of the task that last asked for a request, by half of its key."""

    def add_plan(self, number: int, task: Task, plan: Plan) -> None:
        """Count the requests of a task to one model."""
        model, asset = plan.model, task.asset.to_user_string()
        line = self.lines.setdefault(
            (number, model.name),
            QuoteLine(asset, task.partition, model, prices=empty_prices(model)),
        )
        total = self.totals.setdefault(
            model.name, QuoteLine("", "", model, prices=empty_prices(model))
        )
        if plan.warning is not None:
            self.warnings[plan.warning] = None
        if plan.missing_asset is not None:
            line.missing_asset = total.missing_asset = plan.missing_asset
        for chunk in self._chunk_by_sizes(plan.requests):
            stored_repairs = self._count(number, model, chunk, line, total)
            self._count(number, model, stored_repairs, line, total, may_repair=False)
        for chunk in self._chunk_by_sizes(plan.possible_requests):
            for request in chunk:
                self._count_follow_up(model, request, (line, total))
        line.spared = count_spared(model, plan.spared_requests, self._calls, self._images)
        if plan.paper_sample is not None:
            full_line = QuoteLine(asset, task.partition, model, prices=empty_prices(model))
            for (request,) in self._chunk_by_sizes([plan.paper_sample.largest_request]):
                self._pricing.add_cost(model, request, (full_line,))
            description, request_count, _ = plan.paper_sample
            self.samples.append(
                SampledStep(
                    partition=task.partition,
                    description=description,
                    request_count=request_count,
                    price=full_line.prices["online"],
                )
            )

    def leave_out(self, number: int) -> None:
        """Drop the lines of a task whose requests could not be counted."""
        for key in [key for key, line in self.lines.items() if key[0] == number]:
            if not self.lines[key].requests:
                del self.lines[key]
        model_names = {name for _, name in self.lines}
        self.totals = {name: total for name, total in self.totals.items() if name in model_names}

    def _chunk_by_sizes(self, requests: Iterable[Request]) -> Iterator[list[Request]]:
        """Yield requests in chunks; each is priced by the sizes of its own pictures."""
        for chunk in split_into_chunks(requests):
            shown = {image for request in chunk for image in list_images(request)}
            self._pricing.sizes = self._images.sizes(shown)
            yield chunk

    def _count(
        self,
        number: int,
        model: Model,
        requests: Sequence[Request],
        line: QuoteLine,
        total: QuoteLine,
        *,
        may_repair: bool = True,
    ) -> list[Request]:
        """Count certain requests; return the repairs that stored answers make certain.

        With `may_repair`, the possible repairs of unanswered requests count as follow-ups.
        """
        new: dict[str, tuple[Request, tuple[QuoteLine, ...]]] = {}
        for key, request in zip(compute_call_keys(model, requests), requests, strict=True):
            half = bytes.fromhex(key[:32])
            before = self._last_seen.get(half)
            if before != number:
                self._last_seen[half] = number
                new[key] = request, (line, total) if before is None else (line,)
        stored = self._calls.holds(new)
        waiting = self._calls.batches.find_waiting_tags([key for key in new if key not in stored])
        unsent = {
            key: request
            for key, (request, _) in new.items()
            if key not in stored and key not in waiting
        }
        excesses = find_excesses(model, unsent, self._pricing.sizes, self._images)
        for key, (request, lines) in new.items():
            unanswerable = model.is_imported and key in unsent
            unpainted = (
                model.may_lack_answers
                and key not in stored
                and not (model.is_imported or is_painted(model, request))
            )
            for quote_line in lines:
                quote_line.requests += 1
                quote_line.stored += key in stored
                quote_line.in_batch += key in waiting
                quote_line.unpainted += unpainted
                quote_line.unanswerable += unanswerable
                quote_line.oversized += key in excesses
                quote_line.excess = quote_line.excess or excesses.get(key, "")
            if key in unsent and key not in excesses and not unanswerable:
                self._pricing.add_cost(model, request, lines)
            may_be_repaired = may_repair and key not in stored and key not in excesses
            repair = find_longest_repair(model, request) if may_be_repaired else None
            if repair is not None:
                self._count_follow_up(model, repair, lines)
        if not may_repair:
            return []
        written = {
            key: request for key, (request, _) in new.items() if isinstance(request, WriteRequest)
        }
        answered = [key for key in stored if key in written and written[key].schema is not None]
        calls = self._calls.find_calls(answered) if answered else {}
        repairs = (
            build_repair(written[key], read_outcome(call, written[key]))
            for key, call in calls.items()
        )
        return [request for request in repairs if request is not None]

    def _count_follow_up(self, model: Model, request: Request, lines: Sequence[QuoteLine]) -> None:
        """Count a request that depends on a reply not yet received."""
        for line in lines:
            line.follow_ups += 1
        self._pricing.add_cost(model, request, lines)

"""Forecast of a step for quotes and batches, beyond the first request about each row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assets.kit.plan import PaperSample
from assets.kit.step_run import Row, StepRun
from resources.models.catalog import Model
from resources.models.outcomes import Outcome
from resources.models.requests import Request
from resources.storage.data_root import DataRoot

PENDING = "pending"
"""The outcome of a row, in a plan alone, that depends on answers that are not there yet."""
PLACEHOLDER_SHA256 = "0" * 64
"""Stands, in a plan alone, for the sha256 of a picture that is not there yet."""


class NotCountable(Exception):
    """Requests of a step cannot be counted before the upstream asset named here is materialized."""


class OutdatedRow(ValueError):
    """A row depends on one that the tables upstream do not have, or not as it is now."""


class StepSample(NamedTuple):
    """A sample, as in "6 of 2,000 concepts", and whether it is smaller than the paper's."""

    description: str
    is_trial: bool


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Worst cases, samples and warnings of a step whose requests do not follow from its rows.

    A step that sends one request about each row needs none.
    """

    may_have_follow_up: Callable[[Row], bool] = lambda row: False
    """Returns whether a second request may follow the first one about a row."""
    follow_up_requests: Callable[[StepRun[Any], Row, Request], Iterable[Request]] | None = None
    """Returns the worst-case follow-ups of a request that has no reply yet; by default what the
    conversation asks after its model's longest possible reply."""
    max_requests: Callable[[StepRun[Any], Sequence[Row]], Iterable[Request]] = lambda work, rows: ()
    """Returns worst-case requests beside those of the rows, where upstream rows are pending."""
    answer_locally: Callable[[Model, Request], Outcome | None] = lambda model, request: None
    """Returns a request's outcome where no model is needed, as for a rule-based writer."""
    spared_requests: Callable[[StepRun[Any], Row], Iterable[Request]] = lambda work, row: ()
    """Returns the requests about a row, before or after `finish`, that are not sent because the
    verdict of a rule is certain."""
    describe_outdated: Callable[[Row], str] | None = None
    """Names the tables to materialize again, for a run that meets a pending row."""
    estimate_paper_sample: Callable[[StepRun[Any], Sequence[Row]], PaperSample | None] = (
        lambda work, rows: None
    )
    """Estimates the requests of the paper's sample; None where the rows are that sample."""
    describe_sample: Callable[[str, Mapping[str, Any]], StepSample | None] = (
        lambda partition, metadata: None
    )
    """Returns the sample of a partition's materialization with that metadata."""
    warn: Callable[[str, Any], str | None] = lambda partition, config: None
    """Returns a warning that quotes and runs of a partition add to their numbers."""
    dependent_judges: Sequence[Model] = ()
    """Other judges whose own numbers need the table, as what it gives their captions: where it is
    stored, it is made again once they are asked."""
    rebuild_config: Callable[[DataRoot, str], Mapping[str, Any]] = lambda home, partition: {}
    """Returns the run config that makes a partition's stored table again, in its size."""

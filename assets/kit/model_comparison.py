"""How far two entries of one model agree, in numbers and in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assets.kit.comparison_items import ComparisonItem
from metrics.reply_parsing.bracketed_answers import read_count
from metrics.reply_parsing.plain_answers import read_plain_yes_no
from metrics.statistics.cluster_intervals import exact_interval
from resources.models.catalog import Model
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.server_comparison import (
    Agreement,
    ModelReplies,
    count_equal,
    find_largest_difference,
)


class Measurement(NamedTuple):
    """How far two models agree, asked one by one."""

    replies: Agreement
    """Replies that are equal byte for byte."""
    answers: Agreement
    """Answers read from them that are equal; of a reply without an answer nothing is counted."""
    largest_score_difference: float | None

    def to_record(self) -> dict[str, Any]:
        """The numbers as the record has them, with their intervals of 95 %."""
        return {
            "replies": _to_record(self.replies),
            "answers": _to_record(self.answers),
            "largest_score_difference": self.largest_score_difference,
        }


def measure(
    first: ModelReplies, second: ModelReplies, items: Sequence[ComparisonItem]
) -> Measurement:
    """Measure how far two models agree about the same questions."""
    readings = [
        (_read_answer(outcome, item), _read_answer(other, item))
        for outcome, other, item in zip(first.alone, second.alone, items, strict=True)
    ]
    pairs = [pair for pair in readings if None not in pair]
    return Measurement(
        replies=count_equal(first.alone, second.alone),
        answers=Agreement(sum(answer == other for answer, other in pairs), len(pairs)),
        largest_score_difference=find_largest_difference(first.alone, second.alone),
    )


def format_comparison(
    first: ModelReplies, second: ModelReplies, source: str, measurement: Measurement
) -> Iterator[str]:
    """Say how far two models agree, and whether either is batch-invariant, line by line."""
    names = f"{first.model.name} and {second.model.name}"
    yield f"{names}, asked {len(first.alone):,} questions of {source}:"
    yield f"  equal replies: {_format_share(measurement.replies)}"
    if measurement.largest_score_difference is None:
        yield f"  equal answers: {_format_share(measurement.answers)}"
    else:
        yield f"  largest difference of scores: {measurement.largest_score_difference:.6g}"
    for replies in (first, second):
        invariant, name = replies.count_invariant(), replies.model.name
        same = invariant.equal == invariant.total
        verdict = "batch-invariant here" if same else "not batch-invariant"
        yield f"{name} is {verdict}: alone and all at once, {_format_share(invariant)} are equal"
        if _may_sample(replies.model):
            yield f"  ({name} may sample its answers: set temperature: 0 among its parameters)"


def _read_answer(outcome: Outcome, item: ComparisonItem) -> str | None:
    if not isinstance(outcome, AnsweredOutcome) or outcome.text is None:
        return None
    read = read_plain_yes_no if item.kind == "yes/no" else read_count
    return read(outcome.text).answer


def _to_record(agreement: Agreement) -> Mapping[str, Any]:
    interval = exact_interval(*agreement) if agreement.total else None
    return {**agreement._asdict(), "interval": interval and list(interval)}


def _format_share(agreement: Agreement) -> str:
    equal, total = agreement
    if not total:
        return "none, as there are no two to compare"
    low, high = exact_interval(equal, total)
    return f"{equal:,} of {total:,} ({equal / total:.0%}, 95 % interval {low:.0%} to {high:.0%})"


def _may_sample(model: Model) -> bool:
    if model.backend == "transformers":
        return bool(model.parameters.get("do_sample"))
    return model.backend not in ("python", "file") and model.parameters.get("temperature") != 0

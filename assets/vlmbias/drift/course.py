"""A judge month by month: what its answers say about a change, in words and as a course."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from assets.kit.columns import to_records
from assets.report.formats import (
    Rate,
    format_count,
    format_interval,
    format_p,
    format_whole_percent,
)
from assets.report.standings import Course, MonthRate
from metrics import Interval, exact_interval, stratified_interval
from metrics.vlmbias.drift import MonthTest, RepeatedAnswer, find_changes

TITLE = "VLMBias, month by month"
METHOD = (
    "The same questions, one a scene, were asked again each month; in the first month several "
    "times, for what varies by chance. Two exact tests, paired by question, compare a month with "
    "all earlier ones since the last change: whether its answers repeat theirs, and whether as "
    "many are right, together with the two months before. Holm's correction is over both tests "
    "in all months of a year: of judges that never change, at most 5 % get an alarm in a year."
)


def build_course(judge: str, tables: Mapping[str, pd.DataFrame]) -> Course:
    """Build the course of a judge from its tables by month, at least one, in their order.

    Months under another entry of models.yaml than the last are left out: it is another judge.
    """
    versions = [table["entry_version"].iloc[0] for table in tables.values()]
    months = {
        month: table
        for (month, table), version in zip(tables.items(), versions, strict=True)
        if version == versions[-1]
    }
    tests = find_changes({month: _read_answers(table) for month, table in months.items()})
    rates = [_build_rate(month, table) for month, table in months.items()]
    left_out = len(tables) - len(months)
    sentences = [
        describe_change(judge, rates, tests),
        *_describe_served(months),
        *([f"Months under another entry of models.yaml: {left_out}, not shown."] * bool(left_out)),
    ]
    return Course(
        model=judge,
        title=TITLE,
        sentences=sentences,
        method=METHOD,
        months=rates,
        changed_months=[test.month for test in tests if test.has_changed],
    )


def describe_change(judge: str, rates: Sequence[MonthRate], tests: Sequence[MonthTest]) -> str:
    """Say whether a judge has changed, and since when."""
    if not tests:
        return f"{judge} has been asked in {rates[0].month} alone: nothing to compare yet."
    changes = [test for test in tests if test.has_changed]
    by_month = {rate.month: rate for rate in rates}
    if not changes:
        first, last = rates[0], rates[-1]
        if first.value is None or last.value is None:
            month = (first if first.value is None else last).month
            return f"{judge} has no answers of {month} that have a score: nothing to compare."
        return (
            f"{judge} shows no change since {first.month}: {_percent(first, with_interval=True)} "
            f"right then, {_percent(last, with_interval=True)} in {last.month}; "
            f"{_describe_tests(tests[-1])}."
        )
    change = changes[-1]
    before, changed = by_month[change.reference[-1]], by_month[change.month]
    later = f" No further change: {_percent(rates[-1])} in {rates[-1].month}."
    earlier = f" Earlier changes: {', '.join(test.month for test in changes[:-1])}."
    return (
        f"{judge} no longer answers as in {before.month}: {_percent(before)} right then, "
        f"{_percent(changed)} in {changed.month}; {_describe_tests(change)}."
        f"{later if changed is not rates[-1] else ''}{earlier if len(changes) > 1 else ''}"
    )


def _describe_tests(test: MonthTest) -> str:
    return (
        f"{format_p(test.p_answers)} for the answers, {format_p(test.p_right)} for how many are "
        "right"
    )


def _describe_served(months: Mapping[str, pd.DataFrame]) -> list[str]:
    """Say in which months the provider named another model than in the month before."""
    served = {
        month: ", ".join(sorted(table["served_model"].dropna().unique())) or "no name"
        for month, table in months.items()
    }
    return [
        f"The provider names another model since {month}: {served[month]}, before {served[before]}."
        for before, month in pairwise(served)
        if served[before] != served[month]
    ]


def _percent(rate: MonthRate, *, with_interval: bool = False) -> str:
    if rate.value is None:
        return "unknown"
    share = format_whole_percent(rate.value)
    if not with_interval:
        return share
    return f"{share} {format_interval(Rate(rate.value, rate.low, rate.high))}"


def _read_answers(table: pd.DataFrame) -> list[RepeatedAnswer]:
    return [
        RepeatedAnswer(
            question=f"{row['shown_sha256']} {row['prompt']}",
            answer=None if row["outcome"] == "failed" else row["answer"] or row["outcome"],
            score=None if pd.isna(row["score"]) else int(row["score"]),
        )
        for row in to_records(table[["shown_sha256", "prompt", "outcome", "answer", "score"]])
    ]


def _build_rate(month: str, table: pd.DataFrame) -> MonthRate:
    """The share of right answers in a month; refusals and failures are counted in its note."""
    scored = table.dropna(subset="score")
    counts = table["outcome"].value_counts()
    note = ", ".join(
        f"{format_count(int(counts[outcome]))} {outcome}"
        for outcome in ("unparsed", "refused", "failed")
        if outcome in counts
    )
    answers = f"{format_count(len(scored))} answers"
    note = f"{answers}; {note}" if note else answers
    if scored.empty:
        return MonthRate(month, None, None, None, note)
    interval = _find_interval(scored)
    return MonthRate(month, float(scored["score"].mean()), *interval, note)


def _find_interval(scored: pd.DataFrame) -> Interval:
    """The interval over questions, which the first month repeats."""
    if scored["base_id"].is_unique:
        return exact_interval(int(scored["score"].sum()), len(scored))
    return stratified_interval(scored["score"], scored["base_id"], np.zeros(len(scored)), seed=0)

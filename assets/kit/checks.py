"""Checks for the table of any step: each row ended, nothing failed, enough is left."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity
from numpy.typing import NDArray

from assets.kit.columns import select_values
from assets.kit.limits import format_count_of_total
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Extent, Problem, Step
from assets.kit.step_run import Row, StepRun

_Name: TypeAlias = tuple[Any, ...]
_MAX_SHOWN = 20
_MAX_UNREAD_SHARE = 0.1
"""The share of answers that may be unparsed or refused without a warning."""
_UNREAD_OUTCOMES = ["unparsed", "refused"]


def build_check_result(description: str, wrong: pd.DataFrame, **metadata: Any) -> AssetCheckResult:
    """A check's result: it has passed where there is nothing `wrong`, and shows the first of it."""
    if len(wrong):
        metadata["wrong"] = markdown_table(wrong.head(_MAX_SHOWN))
    return AssetCheckResult(passed=wrong.empty, description=description, metadata=metadata)


def to_partial_result(result: AssetCheckResult, extent: Extent | None) -> AssetCheckResult:
    """Turn a passed check of completeness into a warning if a limit shortened the table.

    What follows is then made of a part.
    """
    if extent is None or not result.passed or extent.count >= extent.total:
        return result
    return result._replace(
        passed=False,
        severity=AssetCheckSeverity.WARN,
        description=(
            f"A part, {format_count_of_total(extent.count, extent.total, extent.unit)}: "
            f"{result.description}"
        ),
    )


def rows_ended_check(step: Step[Any]) -> Check:
    """The blocking check that each item has one row, which ended in a known way.

    It warns if a limit shortened the table.
    """

    def passes(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
        counts = Counter(ended for (ended,) in select_values(rows, step.table.outcome_column))
        outcome_counts = (
            ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items()) or "none"
        )
        wrong = build_problem_table(find_problems(step, work, rows))
        result = build_check_result(f"{len(rows):,} rows: {outcome_counts}", wrong, rows=len(rows))
        return to_partial_result(result, step.extent(work, rows))

    description = (
        "Every item has exactly one row, with its outcome and the columns that this outcome fills."
    )
    return Check("every_row_ended", description, passes, blocking=True)


def no_failures_check(step: Step[Any], shown: Sequence[str]) -> Check:
    """The check that no request has failed; `shown` are the columns that name a row.

    It warns of what the log of an imported judge lacks: nobody can be asked for that.
    """

    def passes(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
        reasons = select_values(rows, step.table.outcome_column, "reason", *shown)
        failed = [(reason, *named) for ended, reason, *named in reasons if ended == "failed"]
        model = step.model(work.partition, work.config)
        is_imported = model is not None and model.is_imported
        summary = "Every request had a reply."
        if failed and is_imported:
            summary = (
                f"No imported log has an answer to {len(failed):,} of {len(rows):,} questions. "
                "They count as missing, and cannot be asked. Import a log that has them, by "
                "`counterfactory import-answers`."
            )
        elif failed:
            (reason, _), *_ = Counter(reason for reason, *_ in failed).most_common(1)
            partition_note = f" of {work.partition}" if work.partition else ""
            summary = (
                f"{len(failed):,} of {len(rows):,} requests failed, most often with: {reason} "
                f"Materialize {step.key.to_user_string()}{partition_note} again: "
                "only those are sent."
            )
        wrong = pd.DataFrame(failed, columns=["reason", *shown])
        severity = AssetCheckSeverity.WARN if is_imported else AssetCheckSeverity.ERROR
        return build_check_result(summary, wrong[[*shown, "reason"]])._replace(severity=severity)

    return Check("nothing_failed", "No request has failed.", passes)


def unparsed_rate_check(by: str, remedy: str) -> Check:
    """The check that warns where too many replies cannot be used, for any value of a column."""

    def passes(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
        outcome_counts = Counter(
            key for key in select_values(rows, by, "outcome") if key[1] != "failed"
        )
        shares = pd.DataFrame(
            [
                (key, *_unread_share(key, outcome_counts))
                for key in sorted({group for group, _ in outcome_counts})
            ],
            columns=[by, *_UNREAD_OUTCOMES, "answers", "share"],
        )
        worst = float(shares["share"].max()) if len(shares) else 0.0
        few = worst <= _MAX_UNREAD_SHARE
        return AssetCheckResult(
            passed=few,
            severity=AssetCheckSeverity.WARN,
            description=f"{worst:.1%} of the answers are unparsed or refused."
            + ("" if few else f" {remedy}"),
            metadata={
                "unread_share": worst,
                "shares": markdown_table(shares.round({"share": 4})),
            },
        )

    return Check(
        "unparsed_rate",
        f"At most {_MAX_UNREAD_SHARE:.0%} of the answers are unparsed or refused. A higher share "
        "says more about the prompt or the provider than about what the model sees.",
        passes,
    )


def _unread_share(group: Any, outcome_counts: Counter[_Name]) -> tuple[float, ...]:
    """Count a group's unusable answers by outcome, then all; append the share of unusable ones."""
    answers = sum(number for (row_group, _), number in outcome_counts.items() if row_group == group)
    unread = [outcome_counts[group, outcome] for outcome in _UNREAD_OUTCOMES]
    return (*unread, answers, sum(unread) / answers)


def usable_share_check(
    step: Step[Any],
    enough: float,
    usable: Callable[[Sequence[Row]], tuple[int, int, str, Counter[str]]],
) -> Check:
    """The check that warns where too little of what was asked for can be used.

    `usable` gives how many, of how many, of what, and what became of the others.
    """

    def passes(work: StepRun[Any], rows: Sequence[Row]) -> AssetCheckResult:
        usable_count, total, unit, others = usable(rows)
        share = usable_count / total if total else 0.0
        summary = f"{usable_count:,} of {total:,} {unit} ({share:.1%}) can be used"
        if others:
            summary += (
                f"; the others: {', '.join(f'{n:,} {outcome}' for outcome, n in others.items())}"
            )
        if others["failed"]:
            summary += f". Materialize {step.key.to_user_string()} again: only what failed is sent"
        return AssetCheckResult(
            passed=share >= enough and not others["failed"],
            severity=AssetCheckSeverity.WARN,
            description=f"{summary}.",
            metadata={"usable": usable_count, "requested": total, **others},
        )

    return Check(
        "usable_share", f"At least {enough:.0%} of what was asked for can be used.", passes
    )


def find_problems(step: Step[Any], work: StepRun[Any], rows: Sequence[Row]) -> Iterator[Problem]:
    """Find the problems in the rows of a step that names them."""
    named_by = step.table.key_columns

    def list_row_keys() -> Iterable[_Name]:
        return (tuple(row[name] for name in named_by) for row in step.rows(work))

    listed = step.table.list_expected_keys
    expected = partial(listed, work, rows) if listed else list_row_keys
    yield from find_miscounted_keys(rows, expected, named_by)
    yield from find_contradictions(rows, step)
    yield from step.table.find_problems(work, rows)


def find_miscounted_keys(
    rows: Sequence[Row], list_expected: Callable[[], Iterable[_Name]], named_by: Sequence[str]
) -> Iterator[Problem]:
    """Find the items that do not have exactly one row, by the columns that name a row.

    `list_expected` returns the names of all items each time. Two items with one name are a problem
    as well: readers of the table take them for one.
    """

    def iterate_names() -> Iterable[_Name]:
        return select_values(rows, *named_by)

    # Of very many names their hashes are kept, and the names of those alone that may be wrong.
    doubtful = _find_unmatched(_hashes(iterate_names()), _hashes(list_expected()))
    if not doubtful:
        return
    counts, expected = (
        Counter(name for name in names if hash(name) in doubtful)
        for names in (iterate_names(), list_expected())
    )
    for name in dict.fromkeys([*expected, *counts]):
        if counts[name] != expected[name] or counts[name] > 1:
            yield " ".join(map(str, name)), f"{counts[name]} rows"


def _hashes(names: Iterable[_Name]) -> NDArray[np.int64]:
    return np.fromiter(map(hash, names), np.int64)


def _find_unmatched(row_hashes: NDArray[np.int64], expected_hashes: NDArray[np.int64]) -> set[int]:
    """Find the hashes that do not occur exactly once on each side."""
    row_hashes, expected_hashes = np.sort(row_hashes), np.sort(expected_hashes)
    twice = [hashes[1:][hashes[1:] == hashes[:-1]] for hashes in (row_hashes, expected_hashes)]
    return {*np.setxor1d(row_hashes, expected_hashes).tolist(), *np.concatenate(twice).tolist()}


def find_contradictions(rows: Iterable[Row], step: Step[Any]) -> Iterator[Problem]:
    """Find rows with columns filled that their outcome does not allow, or without an outcome."""
    rules = step.table
    columns = list(dict.fromkeys(chain(*rules.filled_columns.values())))
    size = len(columns)
    for ended, *cells in select_values(rows, rules.outcome_column, *columns, *rules.key_columns):
        filled = {
            name for name, value in zip(columns, cells[:size], strict=True) if value is not None
        }
        fits = filled == set(rules.filled_columns.get(str(ended), {"no such outcome"}))
        if not (fits if rules.filled_columns else ended):
            yield " ".join(map(str, cells[size:])), f"ended as {ended}"


def build_problem_table(problems: Iterable[Problem]) -> pd.DataFrame:
    """Problems as a check shows them."""
    return pd.DataFrame(list(problems), columns=["row", "problem"])


def build_checks(step: Step[Any]) -> list[Check]:
    """Build all checks of a step: its own, and those that follow from its key columns."""
    checks = list(step.checks())
    check_names = {check.name for check in checks}
    if step.table.key_columns:
        checks.append(rows_ended_check(step))
        # What says how much is left says what failed as well.
        tells_failures = bool(check_names & {"nothing_failed", "usable_share"})
        if "reason" in step.table.columns.columns and not tells_failures:
            checks.append(no_failures_check(step, step.table.key_columns))
    return checks

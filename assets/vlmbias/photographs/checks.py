"""What must hold of tables of pictures: each has one row, which ended in a known way."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSpec,
    AssetIn,
    AssetKey,
    multi_asset_check,
)

from assets.kit.checks import result_of
from assets.kit.columns import Columns
from assets.kit.pictures import Row
from assets.vlmbias.checks import as_partial, previewed
from assets.vlmbias.common import GROUP
from assets.vlmbias.common import photographs as by_painter
from assets.vlmbias.photographs.candidates import CANDIDATES
from assets.vlmbias.photographs.edits import EDITS
from assets.vlmbias.photographs.paintings import PAINTINGS, to_paint
from assets.vlmbias.photographs.parts import part_in, part_painted
from assets.vlmbias.photographs.subjects import photographs_of
from generators.photographs import Photograph

Key: TypeAlias = tuple[object, ...]


class _Step(NamedTuple):
    """A table of pictures: the word for what went well, what names a row, and which there are."""

    columns: Columns
    done: str
    named_by: tuple[str, ...]
    beside: Mapping[str, Columns]
    """The tables that say which rows there have to be, beside the subjects."""
    part: Callable[[Sequence[Photograph], Sequence[Row]], Sequence[Photograph]]
    """The base images that the table is about."""
    wanted: Callable[[Sequence[Photograph], Mapping[str, Sequence[Row]]], Iterable[Key]]


def _paintings(photographs: Sequence[Photograph], _: Mapping[str, Sequence[Row]]) -> Iterator[Key]:
    for prompt in to_paint(photographs):
        yield (prompt,)


def _edits(photographs: Sequence[Photograph], tables: Mapping[str, Sequence[Row]]) -> Iterator[Key]:
    """As many trials of each as any has, and one row of what is not painted."""
    painted = {row["prompt"] for row in tables["paintings"] if row["outcome"] == "painted"}
    trials = 1 + max((row["trial"] for row in tables["edits"]), default=0)
    for photograph in photographs:
        ready = all(painting.prompt in painted for painting in photograph.paintings)
        for trial in range(trials if ready else 1):
            yield photograph.base_id, trial


def _candidates(
    photographs: Sequence[Photograph], tables: Mapping[str, Sequence[Row]]
) -> Iterator[Key]:
    for photograph in photographs:
        if photograph.has_original:
            yield photograph.base_id, "original", 0
    there = {photograph.base_id for photograph in photographs}
    for row in tables["edits"]:
        if row["base_id"] in there:
            yield row["base_id"], "counterfactual", row["trial"]


_STEPS = {
    "paintings": _Step(PAINTINGS, "painted", ("prompt",), {}, part_painted, _paintings),
    "edits": _Step(
        EDITS, "edited", ("base_id", "trial"), {"paintings": PAINTINGS}, part_in, _edits
    ),
    "candidates": _Step(
        CANDIDATES,
        "candidate",
        ("base_id", "variant", "trial"),
        {"edits": EDITS},
        part_in,
        _candidates,
    ),
}


def checks_of_pictures() -> Iterator[AssetChecksDefinition]:
    """The checks of each step."""
    for name, step in _STEPS.items():
        yield _checks(name, step)


def _checks(name: str, step: _Step) -> AssetChecksDefinition:
    asset, beside = AssetKey([GROUP, name]), ["subjects", *step.beside]
    with previewed():
        ended = AssetCheckSpec(
            "every_row_ended",
            asset=asset,
            description="Every picture that was to be made has one row, which has it or says why "
            "not.",
            additional_deps=[AssetKey([GROUP, other]) for other in beside],
            partitions_def=by_painter,
            blocking=True,
        )
        failed = AssetCheckSpec(
            "nothing_failed",
            asset=asset,
            description="No request has failed.",
            partitions_def=by_painter,
        )

    @multi_asset_check(
        name=f"vlmbias__{name}__checks",
        specs=[ended, failed],
        ins={other: AssetIn([GROUP, other]) for other in (name, *beside)},
    )
    def checks(**tables: pd.DataFrame) -> Iterator[AssetCheckResult]:
        subjects = tables.pop("subjects")
        columns = {name: step.columns, **step.beside}
        rows = {other: columns[other].rows(table) for other, table in tables.items()}
        # Of one partition: all subjects are of one topic.
        every = photographs_of(str(subjects["domain"].iloc[0]), subjects)
        found = rows[name]
        some = step.part(every, found)
        counts = Counter(row["outcome"] for row in found).items()
        complete = result_of(
            f"{len(found)} rows: {', '.join(f'{number} {outcome}' for outcome, number in counts)}",
            not_ended(found, step.wanted(some, rows), step.named_by, step.done),
            rows=len(found),
        )._replace(check_name=ended.name)
        yield as_partial(complete, (len(some), len(every)), "base images")
        wrong = [row for row in found if row["outcome"] == "failed"]
        yield _nothing_failed(name, wrong, step)._replace(check_name=failed.name)

    return checks


def not_ended(
    rows: Sequence[Row], wanted: Iterable[Key], named_by: Sequence[str], done: str
) -> pd.DataFrame:
    """What has not exactly one row, and rows whose columns do not fit how they ended."""
    keys = [tuple(row[column] for column in named_by) for row in rows]
    counts, expected = Counter(keys), Counter(wanted)
    problems = [
        (key, f"{counts[key]} rows")
        for key in dict.fromkeys([*expected, *counts])
        if counts[key] != expected[key]
    ] + [
        (key, f"ended as {row['outcome']}")
        for key, row in zip(keys, rows, strict=True)
        if not _fits(row, done)
    ]
    told = [{"row": " ".join(map(str, key)), "problem": problem} for key, problem in problems]
    return pd.DataFrame(told, columns=["row", "problem"])


def _fits(row: Row, done: str) -> bool:
    parts = [row[column] is not None for column in ("sha256", "width", "height")]
    picture, nothing = all(parts), not any(parts)
    why, refusal = row["reason"] is not None, row["refusal"] is not None
    match row["outcome"]:
        case "refused":
            return why and refusal and nothing
        case "failed" | "malformed" | "unpainted":
            return why and not refusal and nothing
        case "dropped":
            return why and not refusal and picture
        case outcome:
            return outcome == done and picture and not (why or refusal)


def _nothing_failed(name: str, failed: Sequence[Row], step: _Step) -> AssetCheckResult:
    """Name how many did, the commonest last error and the remedy."""
    said = "Every request had a reply."
    if failed:
        (reason, _), *_ = Counter(row["reason"] for row in failed).most_common(1)
        said = (
            f"{len(failed)} requests failed, most often with: {reason} Materialize vlmbias/{name} "
            "again: only those are asked."
        )
    return result_of(said, pd.DataFrame(failed, columns=[*step.named_by, "reason"]))

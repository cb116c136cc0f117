"""What must hold of image pairs and of what the filter left of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetIn,
    multi_asset_check,
)

from assets.kit.checks import result_of
from assets.kit.columns import Columns, records
from assets.kit.pictures import Row
from assets.protobias.common import key
from assets.protobias.filtered import FILTERED
from assets.protobias.pairs import IMAGE_PAIRS, SIDES
from assets.protobias.partitions import pairs
from assets.protobias.selection import part_of_pairs, surviving
from assets.protobias.triplets import accepted
from assets.vlmbias.checks import as_partial, previewed

ENOUGH_PAINTED = 0.9
"""The least share of pictures that can be used."""
ENOUGH_KEPT = 0.25
"""The least share of pairs that the filter keeps; the paper's keeps 0.62."""

Problem = tuple[str, str]
"""A row's name, and what is wrong with it."""


class _Yield(NamedTuple):
    """How much came of a step: so many of so many, and what became of the others."""

    there: int
    wanted: int
    of: str
    others: Counter[str]


def checks_of_pairs() -> Iterator[AssetChecksDefinition]:
    """The checks of both steps: integrity, which blocks, and yield, which does not."""
    yield _checks(
        "image_pairs",
        IMAGE_PAIRS,
        before="prompt_triplets",
        integrity="Every accepted triplet has its pairs, each picture one row with a known ending.",
        wrong=wrong_pairs,
        enough=ENOUGH_PAINTED,
        came=_painted,
        every=_pairs_of_triplets,
    )
    yield _checks(
        "filtered_pairs",
        FILTERED,
        before="image_pairs",
        integrity="Every picture is scored or says why not; kept pairs are those that scored, and "
        "have a rank each.",
        wrong=wrong_filtered,
        enough=ENOUGH_KEPT,
        came=_kept,
        every=lambda rows, pictures: records(pictures),
    )


def _checks(
    name: str,
    columns: Columns,
    *,
    before: str,
    integrity: str,
    wrong: Callable[[Sequence[Row], pd.DataFrame], list[Problem]],
    enough: float,
    came: Callable[[Sequence[Row]], _Yield],
    every: Callable[[Sequence[Row], pd.DataFrame], Sequence[Row]],
) -> AssetChecksDefinition:
    with previewed():
        whole = AssetCheckSpec(
            "every_row_ended",
            asset=key(name),
            description=integrity,
            additional_deps=[key(before)],
            partitions_def=pairs,
            blocking=True,
        )
        enough_left = AssetCheckSpec(
            "enough_is_left",
            asset=key(name),
            description=f"At least {enough:.0%} of what was asked for can be used.",
            partitions_def=pairs,
        )

    @multi_asset_check(
        name=f"protobias__{name}__checks",
        specs=[whole, enough_left],
        ins={"made": AssetIn(key(name)), "source": AssetIn(key(before))},
    )
    def checks(made: pd.DataFrame, source: pd.DataFrame) -> Iterator[AssetCheckResult]:
        rows = columns.rows(made)
        problems = pd.DataFrame(wrong(rows, source), columns=["row", "problem"])
        parts = _number(rows), _number(every(rows, source))
        found = as_partial(result_of(f"{len(rows):,} rows", problems), parts, "pairs")
        yield found._replace(check_name=whole.name)
        yield _yield(name, came(rows), enough)._replace(check_name=enough_left.name)

    return checks


def _number(rows: Sequence[Row]) -> int:
    return len({row["pair_id"] for row in rows})


def wrong_pairs(rows: Sequence[Row], triplets: pd.DataFrame) -> list[Problem]:
    """Pictures of accepted triplets without one row, and rows that do not fit how they ended."""
    wanted = part_of_pairs(_pairs_of_triplets(rows, triplets), {row["pair_id"] for row in rows})
    prompts: dict[tuple[str, str], str] = {
        (row["pair_id"], side): row[side] for row in wanted for side in SIDES
    }
    counts = Counter((row["pair_id"], row["side"]) for row in rows)
    seeds: dict[int, set[int | None]] = {}
    for row in rows:
        seeds.setdefault(row["sample"], set()).add(row["seed"])
    return [
        *_miscounted(counts, prompts),
        *(
            (row["image_id"], "has another prompt than its triplet")
            for row in rows
            if row["prompt"] != prompts.get((row["pair_id"], row["side"]), row["prompt"])
        ),
        *(
            (f"sample {sample}", "has several seeds")
            for sample, several in seeds.items()
            if len(several) > 1
        ),
        *((row["image_id"], f"ended as {row['outcome']}") for row in rows if not _fits(row)),
    ]


def _pairs_of_triplets(rows: Sequence[Row], triplets: pd.DataFrame) -> Sequence[Row]:
    """The pairs of all accepted triplets, as many samples of each as any row has."""
    samples = 1 + max((row["sample"] for row in rows), default=0)
    return [
        {
            "pair_id": f"{concept.concept_id}/{sample}",
            "group": concept.group,
            "knob": concept.knob,
            **triplet._asdict(),
        }
        for concept, triplet in accepted(triplets)
        for sample in range(samples)
    ]


def wrong_filtered(rows: Sequence[Row], pictures: pd.DataFrame) -> list[Problem]:
    """Pictures without one row, rows that contradict themselves, and ranks that are not a row."""
    pairs = records(pictures[["pair_id", "side", "group", "knob"]])
    wanted = [
        (row["pair_id"], row["side"])
        for row in part_of_pairs(pairs, {row["pair_id"] for row in rows})
    ]
    counts = Counter((row["pair_id"], row["side"]) for row in rows)
    survivors = set(surviving(rows))
    ranks = sorted({(row["rank"], row["pair_id"]) for row in rows if row["rank"] is not None})
    in_a_row = [rank for rank, _ in ranks] == list(range(len(survivors)))
    evaluated = Counter(row["rank"] for row in rows if row["evaluated"])
    first = evaluated == dict.fromkeys(range(len(evaluated)), len(SIDES))
    return [
        *_miscounted(counts, dict.fromkeys(wanted)),
        *(
            (row["image_id"], f"ended as {row['filter_outcome']}, kept: {row['kept']}")
            for row in rows
            if not _judged(row)
        ),
        *(
            (row["image_id"], "is kept or ranked apart from its pair")
            for row in rows
            if not (row["pair_id"] in survivors) == row["pair_kept"] == (row["rank"] is not None)
        ),
        *([] if in_a_row else [("ranks", "are not 0, 1, 2, … of the kept pairs")]),
        *([] if first else [("evaluated", "are not the first of the kept pairs")]),
    ]


def _miscounted(
    counts: Counter[tuple[str, str]], wanted: Mapping[tuple[str, str], Any]
) -> Iterator[Problem]:
    for pair, side in dict.fromkeys([*wanted, *counts]):
        if counts[pair, side] != ((pair, side) in wanted):
            yield f"{pair} {side}", f"{counts[pair, side]} rows"


def _fits(row: Row) -> bool:
    """Whether the columns of a picture fit its outcome."""
    parts = [row[column] is not None for column in ("sha256", "width", "height")]
    picture, nothing = all(parts), not any(parts)
    why, refusal, flaw = (row[name] is not None for name in ("reason", "refusal", "flaw"))
    match row["outcome"]:
        case "painted":
            return picture and not (why or refusal or flaw)
        case "flawed":
            return picture and why and flaw and not refusal
        case "refused":
            return nothing and why and refusal and not flaw
        case "failed" | "malformed":
            return nothing and why and not (refusal or flaw)
    return False


def _judged(row: Row) -> bool:
    """Whether what the filter said fits its outcome: without a score nothing is kept."""
    scored = row["filter_outcome"] == "scored"
    known = scored or row["filter_outcome"] in ("unparsed", "refused", "failed", "unpainted")
    asked = (row["filter_outcome"] != "unpainted") == (row["outcome"] == "painted")
    told = (row["filter_score"] is not None) == scored == (row["filter_reason"] is None)
    return known and asked and told and (scored or not row["kept"])


def _painted(rows: Sequence[Row]) -> _Yield:
    ends = Counter(row["flaw"] or row["outcome"] for row in rows)
    return _Yield(ends.pop("painted", 0), len(rows), "pictures", ends)


def _kept(rows: Sequence[Row]) -> _Yield:
    ends = Counter(
        "scored too low" if row["filter_outcome"] == "scored" else row["filter_outcome"]
        for row in rows
        if not row["kept"]
    )
    there = sum(row["pair_kept"] for row in rows) // len(SIDES)
    return _Yield(there, len(rows) // len(SIDES), "pairs", ends)


def _yield(name: str, came: _Yield, enough: float) -> AssetCheckResult:
    """How much can be used, what became of the rest, and what to do about it."""
    share = came.there / came.wanted if came.wanted else 0.0
    said = f"{came.there:,} of {came.wanted:,} {came.of} ({share:.1%}) can be used"
    if came.others:
        said += (
            f"; pictures that are {', '.join(f'{what}: {n:,}' for what, n in came.others.items())}"
        )
    if came.others["failed"]:
        said += f". Materialize protobias/{name} again: only what failed is asked"
    return AssetCheckResult(
        passed=share >= enough and not came.others["failed"],
        severity=AssetCheckSeverity.WARN,
        description=f"{said}.",
        metadata={"usable": came.there, "wanted": came.wanted, **came.others},
    )

"""Which pairs survive the filter, and the order of their evaluation (ProtoBias, §3.2 and §4)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import pandas as pd

from assets.pictured import Row
from generators.prompts.concepts import DOMAINS


def share_of(domain: str, evaluated: int) -> int:
    """How many of the evaluated pairs are of a domain: even, the first ones take what is over."""
    whole, over = divmod(evaluated, len(DOMAINS))
    return whole + (DOMAINS.index(domain) < over)


def surviving(rows: Iterable[Row]) -> list[str]:
    """The pairs of which both pictures were kept, in the order of the rows."""
    kept: dict[str, bool] = {}
    for row in rows:
        kept[row["pair_id"]] = kept.get(row["pair_id"], True) and row["kept"]
    return [pair for pair, both in kept.items() if both]


def ranks(concepts: Mapping[str, str], seed: int) -> dict[str, int]:
    """The place of each kept pair in the order of the evaluation; `concepts` are those of pairs.

    The order is that of a hash, but for this: no concept has a second pair before each has its
    first, since two samples of one prompt tell less than samples of two.
    """
    of_concept: dict[str, list[str]] = defaultdict(list)
    for pair in sorted(concepts, key=lambda pair: _lot(seed, pair)):
        of_concept[concepts[pair]].append(pair)
    order = sorted(
        (turn, _lot(seed, pair), pair)
        for pairs in of_concept.values()
        for turn, pair in enumerate(pairs)
    )
    return {pair: place for place, (_, _, pair) in enumerate(order)}


def _lot(seed: int, pair: str) -> str:
    return sha256(f"{seed}/{pair}".encode()).hexdigest()


def retention(rows: Sequence[Row], *by: str) -> pd.DataFrame:
    """By columns of `filtered_pairs`: pairs, those with both pictures, with both scores, and kept.

    `retention` is the share of all pairs that was kept, in %: the paper keeps 62.05 % of its own.
    """
    counted: dict[tuple[str, ...], dict[str, int]] = {}
    sides = defaultdict(list)
    for row in rows:
        sides[row["pair_id"]].append(row)
    for pair in sides.values():
        group = counted.setdefault(tuple(pair[0][name] for name in by), dict.fromkeys(_STAGES, 0))
        group["pairs"] += 1
        group["painted"] += all(row["outcome"] == "painted" for row in pair)
        group["scored"] += all(row["filter_outcome"] == "scored" for row in pair)
        group["kept"] += all(row["kept"] for row in pair)
    return pd.DataFrame(
        [
            {
                **dict(zip(by, group, strict=True)),
                **numbers,
                "retention": round(100 * numbers["kept"] / numbers["pairs"], 2),
            }
            for group, numbers in counted.items()
        ],
        columns=[*by, *_STAGES, "retention"],
    )


_STAGES = ("pairs", "painted", "scored", "kept")

"""Selection of pairs by the filter, and their evaluation order (ProtoBias, §3.2 and §4)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TypeVar

import pandas as pd

from assets.kit.limits import SamplingKey, expected_subset, stratified_head
from assets.kit.step_run import Row
from generators.prompts.concepts import DOMAINS

RowT = TypeVar("RowT", bound=Row)


def sampling_key(pair_id: str, *among: str) -> SamplingKey:
    """A pair's place in the order of a limit: spread over `among`, distinct concepts first.

    A concept sorts with its first pair, so that equal limits on triplets and pairs select the same
    concepts.
    """
    return SamplingKey(pair_id, among, int(pair_id.rpartition("/")[2]))


def select_first_pairs(rows: Sequence[RowT], limit: int | None) -> list[RowT]:
    """The rows of the first pairs in the order of a limit; all without one."""
    if limit is None:
        return list(rows)
    chosen = {
        row["pair_id"]
        for row in stratified_head(_select_first_rows(rows), limit, _build_sampling_key)
    }
    return [row for row in rows if row["pair_id"] in chosen]


def expected_pairs(rows: Sequence[Row], stored_pairs: Collection[str]) -> list[Row]:
    """Rows expected in a table that stores `stored_pairs`; see `limits.expected_subset`."""
    expected_ids = {
        row["pair_id"]
        for row in expected_subset(_select_first_rows(rows), stored_pairs, _build_sampling_key)
    }
    return [row for row in rows if row["pair_id"] in expected_ids]


def _select_first_rows(rows: Sequence[Row]) -> list[Row]:
    return list({row["pair_id"]: row for row in rows}.values())


def _build_sampling_key(row: Row) -> SamplingKey:
    return sampling_key(row["pair_id"], str(row["group"]), row["knob"])


def domain_share(domain: str, evaluated: int) -> int:
    """Return a domain's share of the evaluated pairs: an even share, the remainder to the first."""
    quotient, remainder = divmod(evaluated, len(DOMAINS))
    return quotient + (DOMAINS.index(domain) < remainder)


def list_surviving_pairs(rows: Iterable[Row]) -> list[str]:
    """The pairs of which both pictures were kept, in the order of the rows.

    Retention is their share of those that were asked for, as the paper counts (19,467 of 31,375): a
    pair that was never painted counts as not kept.
    """
    kept_by_pair: dict[str, bool] = {}
    for row in rows:
        kept_by_pair[row["pair_id"]] = kept_by_pair.get(row["pair_id"], True) and bool(row["kept"])
    return [pair for pair, both in kept_by_pair.items() if both]


def assign_ranks(
    concepts: Mapping[str, str], seed: int, pictures: Mapping[str, Collection[str]] | None = None
) -> dict[str, int]:
    """The place of each kept pair in the order of the evaluation; `concepts` are those of pairs.

    The order is that of a hash, with two exceptions. No concept has a second pair before each has
    its first, since two samples of one prompt tell less than samples of two. And a pair that
    shares one of its `pictures` (sha256, by pair) with an earlier one comes after all that do not:
    the next pairs take its place.
    """
    of_concept: dict[str, list[str]] = defaultdict(list)
    for pair in sorted(concepts, key=lambda pair: _draw_lot(seed, pair)):
        of_concept[concepts[pair]].append(pair)
    order = sorted(
        (turn, _draw_lot(seed, pair), pair)
        for pairs in of_concept.values()
        for turn, pair in enumerate(pairs)
    )
    earlier_digests: set[str] = set()
    distinct: list[str] = []
    shared: list[str] = []
    for _, _, pair in order:
        shown = (pictures or {}).get(pair, ())
        (distinct if earlier_digests.isdisjoint(shown) else shared).append(pair)
        earlier_digests.update(shown)
    return {pair: place for place, pair in enumerate([*distinct, *shared])}


def _draw_lot(seed: int, pair: str) -> str:
    return sha256(f"{seed}/{pair}".encode()).hexdigest()


def count_retention(rows: Sequence[Row], *by: str) -> pd.DataFrame:
    """Count pairs by columns of `filtered_pairs`: all, with both pictures, with both scores, kept.

    `retention` is the share of all pairs that was kept, in %: the paper keeps 62.05 % of its own.
    """
    table = pd.DataFrame(rows, columns=[*by, "pair_id", "outcome", "filter_outcome", "kept"])
    ended = table.assign(
        painted=table["outcome"].eq("painted"),
        scored=table["filter_outcome"].eq("scored"),
        kept=table["kept"].astype(bool),
    )
    pairs = ended.groupby("pair_id", sort=False).agg(
        {**dict.fromkeys(by, "first"), **dict.fromkeys(("painted", "scored", "kept"), "all")}
    )
    counts = pairs.assign(pairs=1).groupby(list(by), sort=False)[[*_STAGES]].sum().reset_index()
    return counts.assign(retention=(100 * counts["kept"] / counts["pairs"]).round(2))


_STAGES = ("pairs", "painted", "scored", "kept")

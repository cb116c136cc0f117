"""Samples of pictures for people to score: pairs, even over domains, with equal chances or not."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import pandas as pd

from assets.kit.drawn_sheets import draw_by_uncertainty, require_judge
from assets.kit.score_sheets import CHANCE
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized
from assets.protobias.common import asset_key, load_by_domain
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.selection import domain_share
from generators.prompts.concepts import DOMAINS
from resources.storage.data_root import DataRoot

Pictures: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows of `filtered_pairs` by the sha256 of their picture."""


def load_filtered_pictures(home: DataRoot, painter: str) -> Pictures:
    """Load every picture of a painter's filtered pairs, over all existing domains.

    Raises `NotMaterialized` where there are none.
    """
    groups = defaultdict(list)
    for table in load_by_domain(home, "filtered_pairs", painter).values():
        for row in FILTERED_COLUMNS.read_rows(table, asset_key("filtered_pairs")):
            if row["sha256"] is not None:
                groups[row["sha256"]].append(row)
    if not groups:
        raise NotMaterialized(
            f"There are no pictures of {painter} to score yet: materialize "
            f"protobias/filtered_pairs of {painter} first, for {', '.join(DOMAINS)}."
        )
    return groups


def select_for_scoring(pictures: Pictures, images: int, seed: int) -> list[Row]:
    """The pictures that people are shown, both of each pair, in an order that says nothing.

    They are even over the domains, each domain's in the order of the evaluation; fewer are part of
    more. A picture that stands for several rows would give them one score: their pairs are left
    out, and the next ones take their place.
    """
    rows = _list_scorable_rows(pictures)
    places: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        places[row["domain"]].add(row["rank"])
    chosen_ranks = {
        (domain, rank)
        for domain, ranks in places.items()
        for rank in sorted(ranks)[: domain_share(domain, images // 2)]
    }
    return _shuffle((row for row in rows if (row["domain"], row["rank"]) in chosen_ranks), seed)


def draw_pairs(pictures: Pictures, margins: pd.DataFrame, images: int) -> dict[str, float]:
    """Draw evaluated pairs by the uncertainty of judges, even over domains.

    `margins` are those of `load_margins`. Returns the chance of each drawn picture. The order of
    the evaluation is that of the lots, so that the pairs which come with equal chances are the
    first ones of `select_for_scoring`.
    """
    by_domain: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(_list_scorable_rows(pictures), key=lambda row: int(row["rank"])):
        if row["evaluated"]:
            by_domain[row["domain"]][row["pair_id"]].append(row)
    return {
        row["sha256"]: chance
        for domain, pairs in by_domain.items()
        for pair, chance in draw_by_uncertainty(
            margins.reindex(list(pairs)), domain_share(domain, images // 2)
        ).items()
        for row in pairs[pair]
    }


def load_margins(
    home: DataRoot, painter: str, chosen_by: Sequence[str], judges: Sequence[str]
) -> pd.DataFrame:
    """Load how far each judge is from a tie, with pairs as rows and judges as columns.

    One judge: its score of the correct picture less that of the adversarial one. Several: 1 where
    a judge fails the pair, else 0. Raises `NotMaterialized` where one has scored nothing,
    `NoSuchModel` where it is none of `judges` either.
    """
    columns = {}
    for judge in chosen_by:
        tables = load_by_domain(home, f"scores_{judge}", painter, ["pair_id", "side", "raw"])
        if not tables:
            require_judge("protobias/human_scores", judge, judges)
            raise NotMaterialized(
                f"protobias/human_scores: {judge} has scored no pair of {painter}, so that its "
                f"uncertainty is unknown. Materialize protobias/scores_{judge} of {painter} "
                "first, or name another judge in chosen_by."
            )
        scores = pd.concat(tables.values()).pivot(index="pair_id", columns="side", values="raw")
        margins = scores["correct"] - scores["adversarial"]
        columns[judge] = margins if len(chosen_by) == 1 else margins.le(0).where(margins.notna())
    return pd.DataFrame(columns).astype(float)


def select_drawn(pictures: Pictures, drawn: Mapping[str, float], seed: int) -> list[Row]:
    """The drawn pictures that are still kept, each with its chance, in an order that says nothing.

    A picture that has come to stand for several rows is left out.
    """
    rows = (row for row in _list_scorable_rows(pictures) if row["sha256"] in drawn)
    return [{**row, CHANCE: drawn[row["sha256"]]} for row in _shuffle(rows, seed)]


def _list_scorable_rows(pictures: Pictures) -> list[Row]:
    """The rows of kept pairs that share no picture with another row."""
    kept_rows = [row for rows in pictures.values() for row in rows if row["pair_kept"]]
    times = Counter(row["sha256"] for row in kept_rows)
    shared = {row["pair_id"] for row in kept_rows if times[row["sha256"]] > 1}
    return [row for row in kept_rows if row["pair_id"] not in shared]


def _shuffle(rows: Iterable[Row], seed: int) -> list[Row]:
    return sorted(rows, key=lambda row: sha256(f"{seed}/{row['sha256']}".encode()).digest())

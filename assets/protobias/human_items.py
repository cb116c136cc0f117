"""The sample of pictures that people score, and its form (Table 6)."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from assets.kit.score_sheets import ScoreForm
from assets.kit.step import Row
from assets.kit.table_asset import NothingYet
from assets.protobias.common import by_domain
from assets.protobias.filtered import FILTERED
from assets.protobias.selection import share_of
from generators.prompts.concepts import DOMAINS
from generators.prompts.rating_prompts import judge_prompt
from resources.home import Home


def _section(first: str, after: str) -> str:
    """Table 6 from one heading to the next."""
    return judge_prompt("").partition(f"{first}\n")[2].partition(f"{after}\n")[0].strip()


_TASK = _section("Task:", "Rules:")
_GUIDE = _section("Rating Guide (1-4):", "Output Format:")
FORM = ScoreForm(
    task=_TASK,
    guide={int(score): words for score, words in re.findall(r"- (\d) - (.+)", _GUIDE)},
    guidelines="\n\n".join(
        [
            _TASK,
            f"## Rules\n\n{_section('Rules:', 'Key Checks:')}",
            f"## Key checks\n\n{_section('Key Checks:', 'Rating Guide (1-4):')}",
            f"## Rating guide\n\n{_GUIDE}",
        ]
    ),
    asset="protobias/human_scores",
    source="protobias/filtered_pairs",
)

Pictures: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows of `filtered_pairs` by the sha256 of their picture."""


def review_folder(home: Home, painter: str) -> Path:
    """Where a painter's pictures are scored, and filled files are read from."""
    return Path(home.root) / "reviews" / "protobias" / painter


def pictures_of(home: Home, painter: str) -> Pictures:
    """Every picture of a painter's filtered pairs, of all domains that there are.

    Raises `NothingYet` where there are none.
    """
    found = defaultdict(list)
    for table in by_domain(home, "filtered_pairs", painter).values():
        for row in FILTERED.rows(table):
            if row["sha256"] is not None:
                found[row["sha256"]].append(row)
    if not found:
        raise NothingYet(
            f"There are no pictures of {painter} to score yet: materialize "
            f"protobias/filtered_pairs of {painter} first, for {', '.join(DOMAINS)}."
        )
    return found


def to_score(pictures: Pictures, images: int, seed: int) -> list[Row]:
    """The pictures that people are shown, both of each pair, in an order that says nothing.

    They are even over the domains, each domain's in the order of the evaluation; fewer are part of
    more. A picture that stands for several rows would give them one score: their pairs are left
    out, and the next ones take their place.
    """
    kept = [row for rows in pictures.values() for row in rows if row["pair_kept"]]
    times = Counter(row["sha256"] for row in kept)
    shared = {row["pair_id"] for row in kept if times[row["sha256"]] > 1}
    places: dict[str, set[int]] = defaultdict(set)
    for row in kept:
        if row["pair_id"] not in shared:
            places[row["domain"]].add(row["rank"])
    taken = {
        (domain, rank)
        for domain, ranks in places.items()
        for rank in sorted(ranks)[: share_of(domain, images // 2)]
    }
    chosen = [
        row
        for row in kept
        if row["pair_id"] not in shared and (row["domain"], row["rank"]) in taken
    ]
    return sorted(chosen, key=lambda row: sha256(f"{seed}/{row['sha256']}".encode()).digest())

"""What a new sample of concepts means for the pictures that were painted of the one before."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import pandas as pd
from upath import UPath

from assets.protobias.common import key
from resources.home import Home

_PAIRS = key("image_pairs")


class Painted(NamedTuple):
    """The pictures of one painter in a domain."""

    painter: str
    rehearsal: bool
    """Whether the painter is a stand-in, whose pictures cost nothing."""
    pictures: Mapping[str, int]
    """How many there are, by concept id."""

    def of(self, concepts: Set[str]) -> int:
        """How many pictures are of some concepts."""
        return sum(number for name, number in self.pictures.items() if name in concepts)

    def to_paint(self, concepts: Set[str]) -> int:
        """How many are to be painted of the concepts that have none, with as many samples."""
        return len(concepts - self.pictures.keys()) * max(self.pictures.values(), default=0)


def painted(home: Home, domain: str) -> Iterator[Painted]:
    """What each painter painted of a domain, as it is stored."""
    folder = UPath(home.root).joinpath(*_PAIRS.path, domain)
    for path in sorted(folder.glob("[!.]*.parquet")):
        columns = ["concept_id", "outcome", "rehearsal"]
        rows = home.table(_PAIRS, f"{domain}|{path.stem}", columns)
        rows = rows[rows["outcome"].isin(["painted", "flawed"])]
        yield Painted(path.stem, bool(rows["rehearsal"].all()), Counter(rows["concept_id"]))


def effects(painters: Sequence[Painted], concepts: Set[str]) -> pd.DataFrame:
    """By painter: the pictures that there are, those a sample still uses, and those it lacks."""
    return pd.DataFrame(
        [(each.painter, sum(each.pictures.values()), each.of(concepts), each.to_paint(concepts))
         for each in painters],
        columns=["painter", "pictures", "still used", "to be painted"],
    )  # fmt: skip


def warning(painters: Sequence[Painted], dropped: Set[str], concepts: Set[str]) -> str | None:
    """What to tell where pictures that cost something are no longer used; None where none are."""
    lost = [each for each in painters if not each.rehearsal and each.of(dropped)]
    if not lost:
        return None
    told = "; ".join(
        f"{each.painter} has {each.of(dropped):,} pictures of these, and would paint "
        f"{each.to_paint(concepts):,} of others"
        for each in lost
    )
    return (
        f"This sample lacks {len(dropped):,} concepts of the one before: {told}. What is stored "
        "stays until protobias/prompt_triplets and image_pairs are materialized again."
    )

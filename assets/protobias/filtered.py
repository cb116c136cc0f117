"""Filtered pairs: those of which both pictures fit the sentence that they were painted from."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import Field

from assets.kit.checks import enough_is_left
from assets.kit.choice import chosen
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, records
from assets.kit.limits import Limited
from assets.kit.pictures import sheet
from assets.kit.plan import Whole
from assets.kit.previews import markdown_table
from assets.kit.step import (
    PENDING,
    SOME_PICTURE,
    Check,
    Conversation,
    Extent,
    Input,
    Problem,
    Row,
    Step,
    Work,
)
from assets.protobias.common import GROUP, PAIRS_KEY, TRIPLETS_KEY, domain_and_painter, pairs
from assets.protobias.concepts import whole_sample
from assets.protobias.filters import (
    family_warning,
    filter_of,
    look_at,
    rated,
    read_off,
    reads_pixels,
    unasked,
)
from assets.protobias.pairs import IMAGE_PAIRS, SIDES, pictures_of_paper
from assets.protobias.scorers import scorers
from assets.protobias.selection import first_pairs, ranks, retention_by, share_of, surviving
from resources.models.catalog import Model
from resources.models.requests import Look

FILTERED = Columns(
    **IMAGE_PAIRS.columns,
    filter=(TEXT, "Who scored the picture, as models.yaml names it"),
    filter_family=(TEXT, "Its family"),
    filter_score=(WHOLE, "1 to 10, how well it fits its own prompt; empty where there is none"),
    filter_outcome=(TEXT, "scored, unparsed, refused, failed, or unpainted where it was not asked"),
    filter_response=(TEXT, "What the filter said; empty where it said nothing"),
    filter_reason=(TEXT, "Why there is no score; else empty"),
    keep_from=(WHOLE, "The lowest score that was kept"),
    kept=(BOOLEAN, "Whether the picture scored high enough"),
    pair_kept=(BOOLEAN, "Whether both pictures of its pair did"),
    rank=(WHOLE, "Place of the kept pair in the order of the evaluation; empty where dropped"),
    evaluated=(BOOLEAN, "Whether its pair is of the evaluation set"),
    filter_calls=(TEXTS, "Keys of the stored calls behind its score"),
)
"""One row an image, in the order of `image_pairs`, dropped ones as well."""


ENOUGH = 0.25
"""The least share of pairs that the filter keeps; the paper's keeps 0.62."""


class Filtering(Limited):
    """Who filters, what is kept, and how much of that is evaluated; a limit is on pairs."""

    filter: str = Field(
        default="",
        description="A model of models.yaml with the role captioner or judge. By default the "
        "captioner that does not run offline, if there is just one, and pixels for schematics; the "
        "paper has Qwen2.5-VL-7B-Instruct.",
    )
    keep_from: int = Field(
        default=8, ge=1, le=10, description="The lowest score, of 1 to 10, that is kept."
    )
    evaluated: int = Field(
        default=1000,
        ge=1,
        description="Pairs of a painter that are evaluated, even over the domains. Fewer are the "
        "beginning of more.",
    )
    seed: int = Field(default=0, description="Of the order in which pairs are evaluated.")


class FilteredPairs(Step[Filtering]):
    """The pairs of a domain that one painter painted, as a filter sees them."""

    group, name, columns, config = GROUP, "filtered_pairs", FILTERED, Filtering
    partitions, kinds, asks = pairs, ("image",), Look(())
    calls, outcome = "filter_calls", "filter_outcome"
    named_by = ("pair_id", "side")
    present = MappingProxyType(
        {
            "scored": ("filter_score",),
            **dict.fromkeys(("unparsed", "refused", "failed", "unpainted"), ("filter_reason",)),
        }
    )
    inputs = MappingProxyType(
        {"image_pairs": Input(PAIRS_KEY, read_by=IMAGE_PAIRS, by_default=True)}
    )
    description = "Each picture scored against its own prompt; a pair is kept where both fit."

    def model(self, partition: str, config: Filtering) -> Model | None:
        """The filter; none is asked where `pixels` reads schematics."""
        judge = self._filter(partition, config)
        return None if reads_pixels(judge) else judge

    def _filter(self, partition: str, config: Filtering) -> Model:
        painter = chosen(self.catalog, domain_and_painter(partition)[1], "painter")
        return filter_of(self.catalog, painter, config.filter)

    def rows(self, work: Work[Filtering]) -> list[dict[str, Any]]:
        """The pictures of the first pairs, dropped ones as well."""
        judge = self._filter(work.partition, work.config)
        of_filter: dict[str, Any] = {"filter": judge.name, "filter_family": judge.family}
        of_filter["keep_from"] = work.config.keep_from
        return [
            {**row, **of_filter}
            | ({"filter_outcome": PENDING} if row["outcome"] == PENDING else {})
            for row in first_pairs(work.rows("image_pairs"), work.config.limit)
        ]

    def converse(self, work: Work[Filtering], row: Row) -> Conversation:
        """Ask the filter about a picture without a flaw."""
        if row["outcome"] not in ("painted", PENDING):
            return unasked(row)
        if self.model(work.partition, work.config) is None:
            return read_off(row, work.images)
        outcome, calls = yield look_at(row["prompt"], row["sha256"])
        return rated(outcome, calls)

    def finish(self, work: Work[Filtering], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rank the pairs that survive."""
        if any(row["filter_outcome"] == PENDING for row in rows):
            return _bounded(rows, work.config)
        return ranked(rows, work.config)

    def at_most(self, work: Work[Filtering], rows: Sequence[Row]) -> Iterator[Look]:
        """A look at each picture that may yet be of use: painted anew, or beside other ones."""
        pending = any(row["outcome"] == PENDING for row in rows)
        for row in rows:
            beside_others = pending and row["flaw"] not in (None, "blank")
            if row["outcome"] == "failed" or beside_others:
                yield look_at(row["prompt"], SOME_PICTURE)

    def extent(self, work: Work[Filtering], rows: Sequence[Row]) -> Extent:
        """Of all pairs."""
        every = work.tables["image_pairs"]
        return Extent(len(rows) // len(SIDES), len(every) // len(SIDES), "pairs")

    def whole(self, work: Work[Filtering], rows: Sequence[Row]) -> Whole | None:
        """A look at each picture of the paper's."""
        domain, _ = domain_and_painter(work.partition)
        triplets = work.find(TRIPLETS_KEY, domain)
        if triplets is None or not rows:
            return None
        largest = look_at(max((row["prompt"] for row in rows), key=len), SOME_PICTURE)
        number = pictures_of_paper(domain)
        return whole_sample(domain, len(triplets), work.config.limit, number, largest)

    def warning(self, partition: str, config: Filtering) -> str | None:
        """That judges of the filter's family score what it keeps."""
        return family_warning(self._filter(partition, config), scorers(self.catalog))

    def metadata(self, work: Work[Filtering], rows: Sequence[Row]) -> dict[str, Any]:
        """How many pairs are left, and of what."""
        domain, _ = domain_and_painter(work.partition)
        return {
            "filter": self._filter(work.partition, work.config).name,
            "pairs": len(rows) // len(SIDES),
            "pairs_kept": sum(row["pair_kept"] for row in rows) // len(SIDES),
            "pairs_evaluated": sum(row["evaluated"] for row in rows) // len(SIDES),
            "share_of_evaluation": share_of(domain, work.config.evaluated),
            **{
                f"retention_by_{last}": markdown_table(retention_by(rows, *by, last))
                for *by, last in (("domain", "painter"), ("knob",), ("concept",))
            },
            "contact_sheet": sheet(rows, _caption, work.images),
        }

    def wanted(self, work: Work[Filtering], rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Both pictures of the first pairs."""
        every = records(work.tables["image_pairs"][["pair_id", "side", "group", "knob"]])
        return [(row["pair_id"], row["side"]) for row in first_pairs(every, work.config.limit)]

    def problems(self, work: Work[Filtering], rows: Sequence[Row]) -> Iterator[Problem]:
        """Pictures that were kept without a score, and ranks that are not a row."""
        survivors = set(surviving(rows))
        for row in rows:
            asked = (row["filter_outcome"] != "unpainted") == (row["outcome"] == "painted")
            if not asked or (row["kept"] and row["filter_outcome"] != "scored"):
                yield row["image_id"], f"ended as {row['filter_outcome']}, kept: {row['kept']}"
            if not (row["pair_id"] in survivors) == row["pair_kept"] == (row["rank"] is not None):
                yield row["image_id"], "is kept or ranked apart from its pair"
        places = sorted({(row["rank"], row["pair_id"]) for row in rows if row["rank"] is not None})
        if [rank for rank, _ in places] != list(range(len(survivors))):
            yield "ranks", "are not 0, 1, 2, … of the kept pairs"
        evaluated = Counter(row["rank"] for row in rows if row["evaluated"])
        if evaluated != dict.fromkeys(range(len(evaluated)), len(SIDES)):
            yield "evaluated", "are not the first of the kept pairs"

    def checks(self) -> list[Check]:
        """Enough pairs are kept."""
        return [enough_is_left(self, ENOUGH, _usable)]


def ranked(rows: Sequence[Row], config: Filtering) -> list[dict[str, Any]]:
    """The rows of `filtered_pairs`, once the filter has rated all pictures."""
    found = [
        {**row, "kept": row["filter_score"] is not None and row["filter_score"] >= config.keep_from}
        for row in rows
    ]
    concepts = {row["pair_id"]: row["concept_id"] for row in found}
    shown: dict[str, list[str]] = defaultdict(list)
    for row in found:
        shown[row["pair_id"]].append(row["sha256"])
    places = ranks({pair: concepts[pair] for pair in surviving(found)}, config.seed, shown)
    for row in found:
        rank = places.get(row["pair_id"])
        most = share_of(row["domain"], config.evaluated)
        row |= {
            "pair_kept": rank is not None,
            "rank": rank,
            "evaluated": rank is not None and rank < most,
        }
    return found


def _bounded(rows: Sequence[Row], config: Filtering) -> list[dict[str, Any]]:
    """In a plan, with pictures pending: as many pairs are evaluated as can be, whichever."""
    places = {pair: place for place, pair in enumerate(dict.fromkeys(r["pair_id"] for r in rows))}
    return [
        {**row, "evaluated": places[row["pair_id"]] < share_of(row["domain"], config.evaluated)}
        for row in rows
    ]


def _usable(rows: Sequence[Row]) -> tuple[int, int, str, Counter[str]]:
    ends = Counter(
        "scored too low" if row["filter_outcome"] == "scored" else str(row["filter_outcome"])
        for row in rows
        if not row["kept"]
    )
    there = sum(row["pair_kept"] for row in rows) // len(SIDES)
    return there, len(rows) // len(SIDES), "pairs", ends


def _caption(row: Row) -> str:
    score = row["filter_score"] or row["filter_outcome"]
    return f"{row['concept']}, {row['side']}: {score}, {'kept' if row['pair_kept'] else 'dropped'}"

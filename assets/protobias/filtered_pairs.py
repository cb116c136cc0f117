"""Filtered pairs: those of which both pictures fit the sentence that they were painted from."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pydantic import Field

from assets.kit.checks import usable_share_check
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, to_records
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256, Forecast
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import find_model
from assets.kit.pictures import sample_contact_sheet
from assets.kit.plan import PaperSample
from assets.kit.previews import markdown_table
from assets.kit.spared_requests import RULE
from assets.kit.step import Check, Conversation, Extent, Problem, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.protobias.common import PAIRS_KEY, TRIPLETS_KEY, asset_key, pairs, split_pair_key
from assets.protobias.concepts import estimate_paper_sample
from assets.protobias.filters import (
    build_fit_columns,
    build_request,
    family_warning,
    find_filter,
    parse_rating,
    reads_pixels,
    unasked_columns,
)
from assets.protobias.image_pairs import IMAGE_PAIRS, SIDES, count_paper_pictures
from assets.protobias.schematic_fits import add_fits
from assets.protobias.scorers import list_scorers
from assets.protobias.selection import (
    assign_ranks,
    count_retention,
    domain_share,
    list_surviving_pairs,
    select_first_pairs,
)
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest

FILTERED_COLUMNS = Columns(
    **IMAGE_PAIRS.columns,
    filter=(TEXT, "Model that scored the picture, as models.yaml names it"),
    filter_family=(TEXT, "Family of the filter"),
    filter_score=(WHOLE, "Fit to the picture's own prompt, 1 to 10; empty if there is none"),
    filter_outcome=(TEXT, "scored, unparsed, refused, failed, or unpainted (not asked)"),
    filter_response=(TEXT, "The filter's reply; empty if there is none"),
    filter_reason=(TEXT, "Reason for a missing score; else empty"),
    decided_by=(TEXT, "rule, if a flaw fails the picture and no model is asked; model; or empty"),
    min_score=(WHOLE, "Lowest score at which a picture is kept"),
    kept=(BOOLEAN, "True if the picture scored high enough"),
    pair_kept=(BOOLEAN, "True if both pictures of its pair scored high enough"),
    rank=(WHOLE, "Rank of the kept pair in the order of the evaluation; empty if dropped"),
    evaluated=(BOOLEAN, "True if its pair is in the evaluation set"),
    filter_calls=(TEXTS, "Keys of the stored calls behind its score"),
)
"""Table with one row per image, in the order of `image_pairs`, dropped ones as well."""


MIN_KEPT_SHARE = 0.25
"""The least share of pairs that the filter keeps; the paper's keeps 0.62."""


class FilterConfig(LimitConfig):
    """Filter model, kept pairs and size of the evaluation set; a limit counts pairs."""

    filter: str = Field(
        default="",
        description=(
            "A model of models.yaml with the role captioner or judge. Default: the captioner that "
            "is no stand-in, if there is just one, and pixels for schematics; the paper uses "
            "Qwen2.5-VL-7B-Instruct."
        ),
    )
    min_score: int = Field(
        default=8, ge=1, le=10, description="Lowest score, 1 to 10, at which a picture is kept."
    )
    evaluated: int = Field(
        default=1000,
        ge=1,
        description=(
            "Pairs to evaluate per painter, balanced over domains. A smaller number selects a "
            "subset of a larger one."
        ),
    )
    seed: int = Field(
        default=0, description="Random seed for the order in which pairs are evaluated."
    )


class FilteredPairs(Step[FilterConfig]):
    """The pairs of a domain that one painter painted, as a filter sees them."""

    config, example_request = FilterConfig, LookRequest(())
    asset = StepAsset(
        key=asset_key("filtered_pairs"),
        partitions_def=pairs,
        kinds=("image",),
        description="Pictures scored against their own prompts; a pair is kept if both fit.",
    )
    table = StepTable(
        columns=FILTERED_COLUMNS,
        key_columns=("pair_id", "side"),
        filled_columns=MappingProxyType(
            {
                "scored": ("filter_score",),
                **dict.fromkeys(("unparsed", "refused", "failed", "unpainted"), ("filter_reason",)),
            }
        ),
        outcome_column="filter_outcome",
        unstored_keys=("fit",),
        calls_column="filter_calls",
    )
    inputs = MappingProxyType(
        {"image_pairs": Input(PAIRS_KEY, row_columns=IMAGE_PAIRS, uses_default_config=True)}
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.table = replace(
            self.table, list_expected_keys=self._list_keys, find_problems=self._find_problems
        )
        self.forecast = Forecast(
            max_requests=self._max_requests,
            estimate_paper_sample=self._estimate_paper_sample,
            spared_requests=_iterate_spared_requests,
            warn=self._warn,
        )

    def model(self, partition: str, config: FilterConfig) -> Model | None:
        """The filter; none is asked where `pixels` reads schematics."""
        judge = self._filter(partition, config)
        return None if reads_pixels(judge) else judge

    def _filter(self, partition: str, config: FilterConfig) -> Model:
        painter = find_model(self.catalog, split_pair_key(partition)[1], "painter")
        return find_filter(self.catalog, painter, config.filter)

    def rows(self, work: StepRun[FilterConfig]) -> list[dict[str, Any]]:
        """The pictures of the first pairs, dropped ones as well."""
        judge = self._filter(work.partition, work.config)
        of_filter: dict[str, Any] = {"filter": judge.name, "filter_family": judge.family}
        of_filter["min_score"] = work.config.min_score
        rows = select_first_pairs(work.read_rows("image_pairs"), work.config.limit)
        for row in rows:
            row.update(of_filter, decided_by=RULE if row["outcome"] == "flawed" else None)
            if row["outcome"] == PENDING:
                row["filter_outcome"] = PENDING
        if reads_pixels(judge):
            add_fits(rows, "prompt", work, lambda row: bool(row["outcome"] == "painted"))
        return rows

    def converse(self, work: StepRun[FilterConfig], row: Row) -> Conversation:
        """Ask the filter about a picture without a flaw."""
        if row["outcome"] not in ("painted", PENDING):
            return unasked_columns(row)
        if self.model(work.partition, work.config) is None:
            return build_fit_columns(row["fit"])
        outcome, calls = yield build_request(row["prompt"], row["sha256"])
        return {**parse_rating(outcome, calls), "decided_by": "model"}

    def finish(
        self, work: StepRun[FilterConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Rank the pairs that survive."""
        if any(row["filter_outcome"] == PENDING for row in rows):
            return _mark_most_evaluated(rows, work.config)
        return rank_pairs(rows, work.config)

    def _max_requests(
        self, work: StepRun[FilterConfig], rows: Sequence[Row]
    ) -> Iterator[LookRequest]:
        """A look at each picture that may yet be of use: painted anew, or beside other ones."""
        pending = any(row["outcome"] == PENDING for row in rows)
        for row in rows:
            beside_others = pending and row["flaw"] not in (None, "blank")
            if row["outcome"] == "failed" or beside_others:
                yield build_request(row["prompt"], PLACEHOLDER_SHA256)

    def extent(self, work: StepRun[FilterConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pairs."""
        image_pairs = work.tables["image_pairs"]
        return Extent(
            count=len(rows) // len(SIDES), total=len(image_pairs) // len(SIDES), unit="pairs"
        )

    def _estimate_paper_sample(
        self, work: StepRun[FilterConfig], rows: Sequence[Row]
    ) -> PaperSample | None:
        """A look at each picture of the paper's."""
        domain, _ = split_pair_key(work.partition)
        triplets = work.find_table(TRIPLETS_KEY, domain)
        if triplets is None or not rows:
            return None
        largest = build_request(max((row["prompt"] for row in rows), key=len), PLACEHOLDER_SHA256)
        number = count_paper_pictures(domain)
        return estimate_paper_sample(domain, len(triplets), work.config.limit, number, largest)

    def _warn(self, partition: str, config: FilterConfig) -> str | None:
        """Warn that judges of the filter's own family score the pairs it keeps."""
        return family_warning(self._filter(partition, config), list_scorers(self.catalog))

    def metadata(self, work: StepRun[FilterConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count all pairs, the kept and the evaluated ones, and report retention by group."""
        domain, _ = split_pair_key(work.partition)
        return {
            "filter": self._filter(work.partition, work.config).name,
            "pairs": len(rows) // len(SIDES),
            "pairs_kept": sum(row["pair_kept"] for row in rows) // len(SIDES),
            "pairs_evaluated": sum(row["evaluated"] for row in rows) // len(SIDES),
            "share_of_evaluation": domain_share(domain, work.config.evaluated),
            **{
                f"retention_by_{last}": markdown_table(count_retention(rows, *by, last))
                for *by, last in (("domain", "painter"), ("knob",), ("concept",))
            },
            "contact_sheet": sample_contact_sheet(rows, _caption, work.images),
        }

    def _list_keys(self, work: StepRun[FilterConfig], rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Return the keys of both pictures of the first pairs."""
        image_rows = to_records(work.tables["image_pairs"][["pair_id", "side", "group", "knob"]])
        return [
            (row["pair_id"], row["side"])
            for row in select_first_pairs(image_rows, work.config.limit)
        ]

    def _find_problems(self, work: StepRun[FilterConfig], rows: Sequence[Row]) -> Iterator[Problem]:
        """Pictures that were kept without a score, and ranks that are not a row."""
        survivors = set(list_surviving_pairs(rows))
        for row in rows:
            is_consistent = (row["filter_outcome"] != "unpainted") == (row["outcome"] == "painted")
            if not is_consistent or (row["kept"] and row["filter_outcome"] != "scored"):
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
        """Check that enough pairs are kept."""
        return [usable_share_check(self, MIN_KEPT_SHARE, _count_usable)]


def _iterate_spared_requests(work: StepRun[FilterConfig], row: Row) -> Iterator[LookRequest]:
    """A look at a picture with a flaw, which no score could keep."""
    if row["outcome"] == "flawed":
        yield build_request(row["prompt"], row["sha256"])


def rank_pairs(rows: Sequence[dict[str, Any]], config: FilterConfig) -> list[dict[str, Any]]:
    """Complete the rows of `filtered_pairs`, once the filter has rated all pictures."""
    for row in rows:
        score = row["filter_score"]
        row["kept"] = score is not None and score >= config.min_score
    concepts = {row["pair_id"]: row["concept_id"] for row in rows}
    shown: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        shown[row["pair_id"]].append(row["sha256"])
    places = assign_ranks(
        {pair: concepts[pair] for pair in list_surviving_pairs(rows)}, config.seed, shown
    )
    for row in rows:
        rank = places.get(row["pair_id"])
        most = domain_share(row["domain"], config.evaluated)
        row |= {
            "pair_kept": rank is not None,
            "rank": rank,
            "evaluated": rank is not None and rank < most,
        }
    return list(rows)


def _mark_most_evaluated(rows: Sequence[Row], config: FilterConfig) -> list[dict[str, Any]]:
    """Mark the largest possible number of pairs as evaluated, for a plan with pending pictures."""
    places = {pair: place for place, pair in enumerate(dict.fromkeys(r["pair_id"] for r in rows))}
    return [
        {**row, "evaluated": places[row["pair_id"]] < domain_share(row["domain"], config.evaluated)}
        for row in rows
    ]


def _count_usable(rows: Sequence[Row]) -> tuple[int, int, str, Counter[str]]:
    outcomes = Counter(
        "scored too low" if row["filter_outcome"] == "scored" else str(row["filter_outcome"])
        for row in rows
        if not row["kept"]
    )
    pair_count = sum(row["pair_kept"] for row in rows) // len(SIDES)
    return pair_count, len(rows) // len(SIDES), "pairs", outcomes


def _caption(row: Row) -> str:
    score = row["filter_score"] or row["filter_outcome"]
    return f"{row['concept']}, {row['side']}: {score}, {'kept' if row['pair_kept'] else 'dropped'}"

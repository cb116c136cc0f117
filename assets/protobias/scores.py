"""Scores: what each metric and judge makes of both pictures of a pair, under the same text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any

import pandas as pd

from assets.kit.checks import no_failures_check, unparsed_rate_check
from assets.kit.columns import BOOLEAN, REAL, TEXT, TEXTS, Columns, to_records
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256, Forecast
from assets.kit.judging import JudgeStep
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import digest_entry
from assets.kit.plan import PaperSample
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.protobias.common import FILTERED_KEY, TRIPLETS_KEY, asset_key, pairs, split_pair_key
from assets.protobias.concepts import estimate_paper_sample
from assets.protobias.filtered_pairs import FILTERED_COLUMNS, FilterConfig
from assets.protobias.filters import reads_pixels
from assets.protobias.image_pairs import SIDES
from assets.protobias.schematic_fits import add_fits
from assets.protobias.scorers import STAND_IN_ANSWERS, build_request, formula_name, parse_outcome
from assets.protobias.selection import domain_share, select_first_pairs
from assets.protobias.trained_pairs import overlap_check, require_apart
from metrics.protobias.scored_pairs import pair_scores
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest, ScoreRequest

_CARRIED = (
    *("domain", "painter", "concept_id", "group", "concept", "knob", "text", "pair_id", "side"),
    *("image_id", "sha256", "rank"),
)
SCORES = Columns(
    **FILTERED_COLUMNS.subset(*_CARRIED),
    metric=(TEXT, "The metric or judge, as models.yaml names it"),
    formula=(
        TEXT,
        "Kind of raw score: clip_score, pick_score, siglip_score, itm_score, vqa_score, "
        "vision_score, expected_score, judge, reference, or own (a user's metric)",
    ),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    same_family=(BOOLEAN, "True if it belongs to the family of the filter that kept these pairs"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety, no image or model, if refused; else empty"),
    raw=(REAL, "Raw score: a cosine, a probability, or 1 to 4; empty if there is none"),
    response=(TEXT, "Reply in words; empty for a metric without one"),
    reason=(TEXT, "Reason for a missing score; else empty"),
    served_model=(TEXT, "Model that scored it, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    **FILTERED_COLUMNS.subset("is_stand_in"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a reference"),
)
"""Table with one row per image of the evaluation set."""

_READ_COLUMNS = [*_CARRIED, "is_stand_in", "evaluated", "filter_family", "filter_outcome"]
_FILLED_COLUMNS = {
    "scored": ("raw",),
    "unparsed": ("reason",),
    "refused": ("reason", "refusal"),
    "failed": ("reason",),
}
_SHOWN_COLUMNS = ["pair_id", "side", "outcome", "raw", "response", "reason"]
_PAIRS_SHOWN = 5
_READ_RESPONSES_REMEDY = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "provider may refuse the pictures. No pair that lacks a score is in the failure rate."
)


class PairScores(JudgeStep[LimitConfig]):
    """The scores by one judge or metric of a painter's pairs of a domain."""

    config, stand_in_answers = LimitConfig, STAND_IN_ANSWERS
    asset = StepAsset(
        key=asset_key("scores"),
        description="Scores of the stand-in judge `{model}`.",
        partitions_def=pairs,
    )
    table = StepTable(
        columns=SCORES,
        key_columns=("pair_id", "side", "sha256", "text"),
        filled_columns=_FILLED_COLUMNS,
        unstored_keys=("fit",),
    )
    inputs = MappingProxyType(
        {"filtered_pairs": Input(FILTERED_KEY, columns=_READ_COLUMNS, uses_default_config=True)}
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self._adapter: str | None = judge.parameters.get("adapter")
        kind = "metric" if "metric" in judge.roles else "judge"
        self.asset = replace(self.asset, kinds=(kind, judge.backend))
        if not judge.is_stand_in:
            text = f"Scores of {judge.model} ({formula_name(judge)}), through {judge.backend}."
            self.asset = replace(self.asset, description=text)
            self.example_request = build_request(judge, "", "")
        self.forecast = Forecast(
            max_requests=self._max_requests, estimate_paper_sample=self._estimate_paper_sample
        )

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The pictures of the evaluation set; none while it is undecided."""
        filtered = work.tables["filtered_pairs"]
        if filtered["filter_outcome"].eq(PENDING).any():
            return []
        evaluated = to_records(filtered.loc[filtered["evaluated"], _READ_COLUMNS])
        pictures = select_first_pairs(evaluated, work.config.limit)
        rows = [_row(self.judge, picture) for picture in pictures]
        if reads_pixels(self.judge):
            add_fits(rows, "text", work)
        return rows

    def require(self, work: StepRun[LimitConfig]) -> None:
        """Raise `TablesMismatch` where its adapter was trained on pairs like these."""
        if self._adapter:
            require_apart(self.judge, self._adapter, work, self.rows(work))

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Have the picture scored."""
        outcome, calls = yield build_request(self.judge, row["text"], row["sha256"])
        return {**parse_outcome(outcome), "calls": list(calls)}

    def _max_requests(
        self, work: StepRun[LimitConfig], rows: Sequence[Row]
    ) -> Iterator[LookRequest | ScoreRequest]:
        """Yield the most requests possible, while the evaluated pairs are undecided."""
        filtered = work.tables["filtered_pairs"]
        if filtered["filter_outcome"].eq(PENDING).any():
            possible = filtered.loc[filtered["evaluated"], "pair_id"].nunique()
            most = min(possible, work.config.limit or possible)
            yield from repeat(self._find_longest_request(filtered), len(SIDES) * most)

    def _find_longest_request(self, filtered: pd.DataFrame) -> LookRequest | ScoreRequest:
        return build_request(
            self.judge, max(filtered["text"], key=len, default=""), PLACEHOLDER_SHA256
        )

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pairs of the evaluation set."""
        evaluated = int(work.tables["filtered_pairs"]["evaluated"].sum())
        return Extent(count=len(rows) // len(SIDES), total=evaluated // len(SIDES), unit="pairs")

    def _estimate_paper_sample(
        self, work: StepRun[LimitConfig], rows: Sequence[Row]
    ) -> PaperSample | None:
        """Estimate the requests for as many pictures as the paper evaluates of a domain."""
        domain, _ = split_pair_key(work.partition)
        triplets = work.find_table(TRIPLETS_KEY, domain)
        if triplets is None:
            return None
        number = len(SIDES) * domain_share(domain, FilterConfig().evaluated)
        longest = self._find_longest_request(work.tables["filtered_pairs"])
        return estimate_paper_sample(domain, len(triplets), work.config.limit, number, longest)

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Report counts and failure rates from the raw scores of one domain."""
        if not rows:
            work.log.warning(
                "protobias/filtered_pairs (%s) evaluates no pair, so that there is nothing to "
                "score.",
                work.partition,
            )
            return {"pairs": 0}
        notes: dict[str, Any] = {}
        if any(row["same_family"] for row in rows):
            notes["warning"] = (
                f"{self.judge.name} is of the family of the filter that kept these pairs: they "
                "may be easier for it. Filter by a model of another family, or set its scores "
                "apart."
            )
            work.log.warning("%s", notes["warning"])
        scores: pd.DataFrame = self.build_table(rows).to_pandas()
        pairs = pair_scores(scores.assign(sample="", score=scores["raw"]))
        by_knob = pairs.groupby("knob")["fails"].agg(pairs="size", scored="count")
        if pairs["fails"].notna().any():
            notes["failure_rate"] = round(float(pairs["fails"].mean()), 4)
        names = scores["pair_id"].drop_duplicates()
        is_shown = scores["pair_id"].isin(names.iloc[:: -(-len(names) // _PAIRS_SHOWN)])
        return {
            "pairs": len(pairs),
            "pairs_scored": int(pairs["fails"].count()),
            "ties": int(pairs["tie"].sum()),
            "retention": markdown_table(by_knob.reset_index()),
            "served_models": sorted(scores["served_model"].dropna().unique()),
            "sample": markdown_table(scores.loc[is_shown, _SHOWN_COLUMNS]),
            **notes,
        }

    def checks(self) -> list[Check]:
        """Check for failures, replies without a score, and adapters trained on these pairs."""
        return [
            no_failures_check(self, ["pair_id", "side"]),
            unparsed_rate_check("side", _READ_RESPONSES_REMEDY),
            *([overlap_check(self.judge, self._adapter)] if self._adapter else []),
        ]


def _row(model: Model, picture: Row) -> dict[str, Any]:
    return {
        **{name: picture[name] for name in (*_CARRIED, "is_stand_in")},
        "rank": int(picture["rank"]),
        "metric": model.name,
        "formula": formula_name(model),
        "entry_version": digest_entry(model),
        "same_family": model.family == picture["filter_family"],
        "calls": [],
    }

"""Negated cases: each question with its negation, by rule or by a model, and checked by rule."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity, MetadataValue
from pydantic import Field

from assets.kit.checks import build_check_result
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.forecast import PENDING, Forecast
from assets.kit.limits import LimitConfig
from assets.kit.panel import panel_sheet
from assets.kit.previews import markdown_table
from assets.kit.sentences import SENTENCE_KEYS, WriterConfig, WriteStep, write_sentence
from assets.kit.step import Check, Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.case_sources import NO, YES
from assets.vhexpansion.common import (
    CASE_COLUMNS,
    TRUTH_COLUMNS,
    asset_key,
    dataset_partitions,
    limit_cases,
)
from assets.vhexpansion.negation_review import (
    apply_review,
    review_folder,
    review_metadata,
    write_pairs,
)
from assets.vhexpansion.seed_cases import ACCEPTED, SEED_CASES
from generators.prompts.instructions import tidy_reply
from generators.prompts.negation import (
    RULES,
    VERSION,
    Negation,
    NotNegatable,
    check_negation,
    negate,
    quote,
    read_negation,
    write_negation_prompt,
)

NEGATED_CASE_COLUMNS = Columns(
    **CASE_COLUMNS,
    **TRUTH_COLUMNS,
    negated_question=(TEXT, "Negated question, also if rejected"),
    negated_answer=(TEXT, "Right answer to the negation; empty if there is no negation"),
    rule=(TEXT, "Way of negating: prefix, no, not or quoted; empty if it was not negated"),
    writer=(TEXT, "Writer, as models.yaml names it"),
    prompt_version=(TEXT, "Digest of the writer's prompt template; empty for grammar"),
    outcome=(TEXT, "negated, rejected (by rule), left out (by people), unparsed, refused, failed"),
    refusal=(TEXT, "content filter or model, if refused; else empty"),
    reason=(TEXT, "Broken rule, or reason for a missing negation; else empty"),
    broken=(TEXTS, "Rules that its attempts broke, each once"),
    attempts=(WHOLE, "Number of requests; empty if none was needed"),
    accepted_by=(TEXTS, "Annotators who accepted it"),
    rejected_by=(TEXTS, "Annotators who rejected it"),
    served_model=(TEXT, "Model that wrote it, as the provider names it; empty if unnamed"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)
REASKS = 2
"""Maximum number of re-queries for a negation, each naming the problem."""
_AGAIN = "Rephrase it again, by the same rules. You should only return the rephrased question."
_OTHER: Mapping[str | None, str | None] = {YES: NO, NO: YES, None: None}


class NegationConfig(LimitConfig, WriterConfig):
    """Writer and settings of the negations; a limit is on cases."""

    review_seed: int = Field(
        default=0, ge=0, description="Random seed for the 100 pairs sent for review."
    )
    quote_unnegatable: bool = Field(
        default=False,
        description=(
            'Negate a question that would be rejected by rule by quoting it: Is "no" the right '
            'answer to the question "..."?'
        ),
    )


class NegatedCases(WriteStep[NegationConfig]):
    """The cases of a dataset with their negations."""

    config = NegationConfig
    asset = StepAsset(
        key=asset_key("negated_cases"),
        partitions_def=dataset_partitions,
        description=(
            "Questions with their negations, whose right answer is the other one: written by rule "
            "or by a model with the paper's prompt, checked by rule, and reviewed by people "
            "(§3.1, §5.2)."
        ),
    )
    table = StepTable(
        columns=NEGATED_CASE_COLUMNS,
        key_columns=("case_id",),
        unstored_keys=("is_first", *SENTENCE_KEYS),
    )
    forecast = Forecast(may_have_follow_up=lambda row: bool(row["is_first"]))
    inputs = MappingProxyType(
        {"cases": Input(asset_key("seed_cases"), row_columns=SEED_CASES, uses_default_config=True)}
    )

    def rows(self, work: StepRun[NegationConfig]) -> list[dict[str, Any]]:
        """The cases that were taken."""
        cases = limit_cases(work.read_rows("cases"), ACCEPTED, work.config.limit)
        first = {row["question"]: row["case_id"] for row in reversed(cases)}
        return [
            row
            | {"writer": work.config.writer, "negated_question": None, "calls": []}
            | {"outcome": PENDING if row["outcome"] == PENDING else None}
            | {"is_first": row["outcome"] == PENDING or first[row["question"]] == row["case_id"]}
            for row in cases
        ]

    def converse(self, work: StepRun[NegationConfig], row: Row) -> Conversation:
        """Have the question negated; what breaks a rule is asked for again with the reason."""
        question = row["question"] or ""
        if self.model(work.partition, work.config) is None:
            return negate_by_grammar(
                question, row["answer"], may_quote=work.config.quote_unnegatable
            )
        prompt, attempts = write_negation_prompt(question), 1 + REASKS
        sentence = yield from write_sentence(
            prompt, tidy_reply, lambda text: check_negation(question, text), _AGAIN, attempts
        )
        broken = [reason.partition(":")[0] for reason in sentence["problems"]]
        columns = {**sentence, "broken": list(dict.fromkeys(broken)), "prompt_version": VERSION}
        columns["negated_question"] = sentence.get("sentence")
        if sentence["outcome"] == "rejected" and work.config.quote_unnegatable:
            return columns | negate_by_quotation(question, row["answer"])
        if sentence["outcome"] != "written":
            return columns
        way = read_negation(question, sentence["sentence"]).way
        return {
            **columns,
            "rule": way,
            "outcome": "negated",
            "negated_answer": _OTHER[row["answer"]],
        }

    def finish(
        self, work: StepRun[NegationConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Leave out what people leave out. Raises `UserFileError`."""
        return apply_review(rows, review_folder(work.home, work.partition, work.config.writer))

    def extent(self, work: StepRun[NegationConfig], rows: Sequence[Row]) -> Extent:
        """Count the cases negated, of all accepted ones."""
        is_taken = work.tables["cases"]["outcome"].isin([ACCEPTED, PENDING])
        return Extent(count=len(rows), total=int(is_taken.sum()), unit="cases")

    def metadata(self, work: StepRun[NegationConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Summarize the negations and failures; write the sheet that people copy and fill in."""
        folder = review_folder(work.home, work.partition, work.config.writer)
        config = work.config
        write_pairs(rows, work.home, work.partition, config.writer, config.review_seed)
        ways = Counter(str(row["rule"]) for row in rows if row["outcome"] == "negated")
        broken = Counter(rule for row in rows for rule in row.get("broken") or ())
        shown = pd.DataFrame(rows, columns=["question", "negated_question", "outcome", "reason"])
        return {
            "cases": len(rows),
            "by_way": markdown_table(pd.DataFrame(ways.items(), columns=["way", "cases"])),
            "broken_rules": markdown_table(
                pd.DataFrame([(rule, broken[rule]) for rule in RULES], columns=["rule", "cases"])
            ),
            "examples": markdown_table(shown.drop_duplicates("question").head(12)),
            "sheet": MetadataValue.path(str(panel_sheet(folder))),
            **review_metadata(rows),
        }

    def checks(self) -> list[Check]:
        """Check that every case has a negation that passes."""
        return [
            Check("negations_hold", "Every negation passes by rule.", _hold, blocking=True),
            Check(
                "every_case_is_negated",
                "Every case has a negation that is used.",
                _check_every_case,
            ),
        ]


def negate_by_grammar(question: str, answer: str | None, *, may_quote: bool) -> dict[str, Any]:
    """The columns of a negation by rule, or of a quotation where there is no other."""
    try:
        return _build_negation_columns(negate(question), answer) | {"broken": []}
    except NotNegatable as reason:
        rejected = {"outcome": "rejected", "reason": f"by rule: {reason}", "broken": []}
        return rejected | negate_by_quotation(question, answer) if may_quote else rejected


def negate_by_quotation(question: str, answer: str | None) -> dict[str, Any]:
    """The columns of a negation that quotes its question; none where it cannot be quoted."""
    try:
        return _build_negation_columns(quote(question), answer) | {"reason": None}
    except NotNegatable:
        return {}


def _build_negation_columns(negation: Negation, answer: str | None) -> dict[str, Any]:
    return {
        "negated_question": negation.question,
        "negated_answer": _OTHER[answer],
        "rule": negation.way,
        "outcome": "negated",
    }


def _hold(work: StepRun[NegationConfig], rows: Sequence[Row]) -> AssetCheckResult:
    broken_rows = [
        (row["case_id"], reason)
        for row in rows
        if row["outcome"] == "negated"
        and (reason := check_negation(row["question"], row["negated_question"]))
    ]
    table = pd.DataFrame(broken_rows, columns=["case_id", "reason"])
    return build_check_result(f"{len(rows) - len(broken_rows):,} of {len(rows):,} hold", table)


def _check_every_case(work: StepRun[NegationConfig], rows: Sequence[Row]) -> AssetCheckResult:
    unused_rows = [row for row in rows if row["outcome"] != "negated"]
    description = (
        f"{len(rows) - len(unused_rows):,} of {len(rows):,} cases have a negation that is used"
    )
    outcome_counts = Counter(row["outcome"] for row in unused_rows)
    if outcome_counts:
        description += (
            f": {', '.join(f'{number:,} {outcome}' for outcome, number in outcome_counts.items())}"
        )
    if outcome_counts["failed"]:
        description += ". Materialize vhexpansion/negated_cases again: only what failed is sent"
    shown = pd.DataFrame(unused_rows, columns=["case_id", "question", "outcome", "reason"])
    return build_check_result(description, shown)._replace(severity=AssetCheckSeverity.WARN)

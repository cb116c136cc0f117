"""A judge's answers to the same few questions in each month, under the baseline prompting.

The questions are Q1 about the smallest picture of changed scenes, one a scene, so that they are
independent. In its first month a judge is asked each several times: how its answers vary by
chance is the baseline. A month's answers have sample numbers of their own in the call store: they
are paid once, and no other month's serve in their place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from dagster import (
    AllPartitionMapping,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetDep,
)
from pydantic import Field

from assets.kit.checks import unparsed_rate_check
from assets.kit.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns
from assets.kit.judging import REPLY_COLUMNS, JudgeStep, reply_columns
from assets.kit.limits import SamplingKey, stratified_head
from assets.kit.partitions import months
from assets.kit.step import Check, Conversation, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.kit.table_asset import NotMaterialized
from assets.vlmbias.blind_answers import list_scene_questions
from assets.vlmbias.common import asset_key
from assets.vlmbias.drift.course import build_course
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.responses import READING_COLUMNS, STAND_IN_ANSWERS, score_row
from generators.topics import DRAWN
from metrics import BASELINE
from metrics.vlmbias.drift import BASELINE_SAMPLES
from resources.calls.spending import Account
from resources.calls.store import CallStore
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest, Turn, compute_call_keys
from resources.settings.run_config import Config

_SAMPLES_PER_MONTH = 100
_QUESTIONS_KEY = asset_key("questions")

MONTHLY_ANSWERS = Columns(
    month=(TEXT, "Month in which it was asked, as 2026-11"),
    sample=(WHOLE, "Sample number of the request: the month, and the repeat in it"),
    **QUESTIONS.subset("image_id", "base_id", "domain", "subtopic", "size"),
    **QUESTIONS.subset("question_id", "question", "ground_truth", "expected_bias"),
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompt=(TEXT, "Prompt sent with the image"),
    shown_sha256=(TEXT, "sha256 of the picture that was sent"),
    answer=(TEXT, "Answer read from the curly brackets; empty if unreadable"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty if refused or failed"),
    **READING_COLUMNS.columns,
    **REPLY_COLUMNS,
    is_stand_in=(BOOLEAN, "True if a stand-in judge answered, so that it is no result"),
)


class MonthlyConfig(Config):
    """How many questions are asked again each month."""

    questions: int = Field(
        default=200,
        ge=1,
        description="Number of questions, evenly over the drawn topics, fewer if there are fewer. "
        "The first ones are the same for any number; months are compared on those they share.",
    )


class MonthIsOver(ValueError):
    """Questions of a month that is over cannot be asked any more."""


class MonthlyAnswers(JudgeStep[MonthlyConfig]):
    """A judge's answers of one month, within its `drift_budget`."""

    config, stand_in_answers, example_request = MonthlyConfig, STAND_IN_ANSWERS, LookRequest(())
    asset = StepAsset(
        key=asset_key("monthly_answers"),
        partitions_def=months,
        deps=[AssetDep(_QUESTIONS_KEY, partition_mapping=AllPartitionMapping())],
        # The schedule asks each month once, and nobody else should.
        is_automatic=False,
    )
    table = StepTable(
        columns=MONTHLY_ANSWERS,
        key_columns=("base_id", "sample"),
        filled_columns={"answered": ("answer", "score"), "unparsed": ("score",)}
        | {"refused": ("refusal",), "failed": ()},
        unstored_keys=(*QUESTIONS.columns, "prompting", "readings", "first_response"),
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        description = (
            f"Answers of {judge.name} to the same questions, 200 by default, asked again each "
            f"month, for at most ${judge.drift_budget:,.2f}; {BASELINE_SAMPLES} times in the "
            "first month, then once. Quote a month before you turn the schedule on: "
            f"`counterfactory quote vlmbias/monthly_answers_{judge.name} --partitions 2026-11`."
        )
        self.asset = replace(self.asset, description=description)

    def rows(self, work: StepRun[MonthlyConfig]) -> list[dict[str, Any]]:
        """A row for each question, in the first month one for each repeat."""
        repeats = BASELINE_SAMPLES if self._is_first(work) else 1
        first_sample = int(work.partition.replace("-", "")) * _SAMPLES_PER_MONTH
        return [
            {
                **question,
                "month": work.partition,
                "sample": first_sample + repeat,
                # By which the stand-in that guesses guesses anew.
                "seed": first_sample + repeat,
                "model": self.judge.name,
                "entry_version": self.asset.code_version,
                "prompting": BASELINE,
                "prompt": question["question"],
                "shown_sha256": question["sha256"],
                "readings": {},
                "is_stand_in": self.judge.is_stand_in,
                "calls": [],
            }
            for question in select_fixed_questions(work)
            for repeat in range(repeats)
        ]

    def query(self, work: StepRun[MonthlyConfig], row: Row) -> Conversation:
        """Ask as the benchmark does, by the month's own sample number."""
        return reply_columns((yield self._build_request(row)))

    def finish(
        self, work: StepRun[MonthlyConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Score all answers."""
        return [score_row(row) for row in rows]

    def may_send(self, partition: str) -> bool:
        """Return whether a month is the current one."""
        return partition == f"{datetime.now(UTC):%Y-%m}"

    def limit_account(
        self, work: StepRun[MonthlyConfig], account: Account, calls: CallStore
    ) -> Account:
        """Limit the account to the `drift_budget`, for all runs of the month together.

        Raises `MonthIsOver` where an answer of an earlier month is missing: today's model would
        give it.
        """
        if self.judge.is_stand_in:
            return account
        if not self.may_send(work.partition):
            keys = set(compute_call_keys(self.judge, map(self._build_request, self.rows(work))))
            if missing := len(keys - calls.holds(keys)):
                raise MonthIsOver(
                    f"{self.key.to_user_string()}: {work.partition} is over, and {missing:,} of "
                    "its answers are not stored: asked now, they would be today's model's. "
                    f"Materialize the current month, or import the cassette that has them."
                )
        source = f"drift_budget of {self.judge.name} in models.yaml"
        budget = self.judge.drift_budget
        return replace(account, per_partition=budget, per_partition_source=source)

    def metadata(self, work: StepRun[MonthlyConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Say what the months so far say of a change."""
        course = build_course(self.judge.name, self._load_tables(work, rows))
        return {"finding": " ".join(course.sentences)}

    def checks(self) -> list[Check]:
        """Check that most replies are readable, and warn in the month of a change."""
        description = "The answers are as in the months before, by two exact tests."
        unchanged = Check("answers_as_before", description, self._check_unchanged)
        return [unparsed_rate_check("domain", "Read some of the table's responses."), unchanged]

    def _check_unchanged(
        self, work: StepRun[MonthlyConfig], rows: Sequence[Row]
    ) -> AssetCheckResult:
        tables = self._load_tables(work, rows)
        course = build_course(self.judge.name, tables)
        return AssetCheckResult(
            passed=work.partition not in course.changed_months,
            severity=AssetCheckSeverity.WARN,
            description=course.sentences[0],
        )

    def _load_tables(
        self, work: StepRun[MonthlyConfig], rows: Sequence[Row]
    ) -> dict[str, pd.DataFrame]:
        """Load the tables up to this month, with these rows for it."""
        return self._load_earlier(work) | {work.partition: self.build_table(rows).to_pandas()}

    def _load_earlier(self, work: StepRun[MonthlyConfig]) -> dict[str, pd.DataFrame]:
        earlier = (month for month in months.get_partition_keys() if month < work.partition)
        tables = {month: work.find_table(self.key, month) for month in earlier}
        return {month: table for month, table in tables.items() if table is not None}

    def _build_request(self, row: Row) -> LookRequest:
        return LookRequest((Turn("user", row["prompt"], (row["shown_sha256"],)),), row["sample"])

    def _is_first(self, work: StepRun[MonthlyConfig]) -> bool:
        """Return whether no earlier month has answers of the judge as its entry is now."""
        # Stored ones: a quote of several months has drafts of those that are over.
        stored = (
            work.home.find(self.key, month, ["entry_version"])
            for month in months.get_partition_keys()
            if month < work.partition
        )
        version = self.asset.code_version
        return not any(
            table is not None and table["entry_version"].eq(version).any() for table in stored
        )


def select_fixed_questions(work: StepRun[MonthlyConfig]) -> list[dict[str, Any]]:
    """Select the questions of every month, evenly over the drawn topics that are there.

    Raises `NotMaterialized` where there is none.
    """
    questions = [*_iterate_questions(work)]
    if not questions:
        raise NotMaterialized("No questions yet: materialize vlmbias/questions of drawn topics.")
    return stratified_head(
        questions,
        work.config.questions,
        lambda row: SamplingKey(row["base_id"], (row["domain"], row["subtopic"])),
    )


def _iterate_questions(work: StepRun[MonthlyConfig]) -> Iterator[dict[str, Any]]:
    for topic in DRAWN:
        table = work.find_table(_QUESTIONS_KEY, topic)
        if table is not None:
            yield from list_scene_questions(QUESTIONS.read_rows(table, _QUESTIONS_KEY))

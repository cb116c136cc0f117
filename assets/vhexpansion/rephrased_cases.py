"""Rephrased cases: those of a dataset that judges are fine-tuned on, each in further wordings."""

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
from dagster import AssetCheckResult
from pydantic import Field

from assets.kit.checks import build_check_result
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.forecast import PENDING, Forecast
from assets.kit.previews import markdown_table
from assets.kit.sentences import GRAMMAR, SENTENCE_KEYS, WriterConfig, WriteStep, write_sentence
from assets.kit.step import Check, Conversation, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.common import (
    CASE_COLUMNS,
    asset_key,
    dataset_partitions,
    limit_cases,
)
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.yes_no_step import FORMS
from generators.prompts.rephrasing import (
    MAX_WORDINGS,
    VERSION,
    find_rephrasing_problem,
    parse_wordings,
    rephrase,
    write_rephrasing_prompt,
)
from metrics.vhexpansion.symmetry import ORIGINAL

REPHRASED_CASE_COLUMNS = Columns(
    **CASE_COLUMNS,
    form=(TEXT, "original, or negated: `question` and `answer` are of this form"),
    wordings=(TEXTS, "Other wordings of the question, with the same answer"),
    writer=(TEXT, "Writer, as models.yaml names it"),
    prompt_version=(TEXT, "Digest of the writer's prompt template; empty for grammar"),
    outcome=(TEXT, "rephrased, rejected (by rule), unparsed, refused or failed"),
    refusal=(TEXT, "content filter or model, if refused; else empty"),
    reason=(TEXT, "Problem with the wordings, or reason for missing ones; else empty"),
    attempts=(WHOLE, "Number of requests; empty if none was needed"),
    served_model=(TEXT, "Model that wrote them, as the provider names it; empty if unnamed"),
    calls=(TEXTS, "Keys of the stored calls behind them"),
)
"""Table with one row per case and form."""
DONE = "rephrased"
_REASKS = 2
_AGAIN = "Write all of them again, by the same rules, and nothing else."


class RephrasingConfig(WriterConfig):
    """Cases to train on, and the writer that rephrases them."""

    cases: int = Field(
        default=200,
        ge=1,
        description=(
            "Cases of the dataset to train on, balanced over topics and right answers; the paper "
            "has 200. Other cases with the same pictures are never evaluated."
        ),
    )
    rephrasings: int = Field(
        default=4,
        ge=1,
        le=MAX_WORDINGS,
        description="Additional wordings per question; the paper has 4.",
    )
    writer: str = Field(
        default=GRAMMAR,
        description=(
            "A model of models.yaml with the role writer. grammar uses no model, and puts a "
            "phrase before the question; the paper uses GPT-4o."
        ),
    )


class RephrasedCases(WriteStep[RephrasingConfig]):
    """The cases of a dataset that are trained on, as they stand and negated, with wordings."""

    config = RephrasingConfig
    asset = StepAsset(
        key=asset_key("rephrased_cases"),
        partitions_def=dataset_partitions,
        description=(
            "Cases for fine-tuning judges, sampled evenly from those with a negation, each form "
            "in four more wordings, by rule or by a model (§5.4)."
        ),
    )
    table = StepTable(
        columns=REPHRASED_CASE_COLUMNS,
        unstored_keys=SENTENCE_KEYS,
        key_columns=("case_id", "form"),
        filled_columns=MappingProxyType(
            {
                DONE: ("wordings",),
                **dict.fromkeys(("rejected", "unparsed", "refused", "failed"), ()),
            }
        ),
    )
    forecast = Forecast(may_have_follow_up=lambda row: True)
    inputs = MappingProxyType(
        {
            "cases": Input(
                asset_key("negated_cases"),
                row_columns=NEGATED_CASE_COLUMNS,
                uses_default_config=True,
            )
        }
    )

    def rows(self, work: StepRun[RephrasingConfig]) -> list[dict[str, Any]]:
        """The drawn cases, in both forms."""
        cases = limit_cases(work.read_rows("cases"), "negated", work.config.cases)
        return [_row(case, form, work.config.writer) for case in cases for form in FORMS]

    def converse(self, work: StepRun[RephrasingConfig], row: Row) -> Conversation:
        """Have the question rephrased; what breaks a rule is asked for again with the reason."""
        question, number = row["question"] or "", work.config.rephrasings
        if self.model(work.partition, work.config) is None:
            return _check_wordings(question, rephrase(question, number), number)
        prompt = write_rephrasing_prompt(question, number)
        sentence = yield from write_sentence(
            prompt,
            str.strip,
            lambda text: find_rephrasing_problem(question, parse_wordings(text), number),
            _AGAIN,
            1 + _REASKS,
        )
        columns = {**sentence, "prompt_version": VERSION}
        if sentence["outcome"] != "written":
            return columns
        return {**columns, "wordings": parse_wordings(sentence["sentence"]), "outcome": DONE}

    def metadata(self, work: StepRun[RephrasingConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the cases and pictures to train on; show some wordings."""
        shown = [
            {"question": row["question"], "wordings": " / ".join(row["wordings"] or ())}
            for row in rows[:12]
        ]
        return {
            "cases": len({row["case_id"] for row in rows}),
            "pictures": len({row["image_id"] for row in rows}),
            "by_answer": str(dict(Counter(row["answer"] for row in rows))),
            "examples": markdown_table(pd.DataFrame(shown, columns=["question", "wordings"])),
        }

    def checks(self) -> list[Check]:
        """Check that every wording passes by rule."""
        description = (
            "Each case has the requested number of wordings; each is one question, and none is "
            "the negation."
        )
        return [Check("wordings_hold", description, _hold, blocking=True)]


def _row(case: Row, form: str, writer: str) -> dict[str, Any]:
    prefix = "" if form == ORIGINAL else "negated_"
    return {
        **{name: case[name] for name in CASE_COLUMNS},
        "form": form,
        "question": case[f"{prefix}question"],
        "answer": case[f"{prefix}answer"],
        "writer": writer,
        "wordings": None,
        "calls": [],
        "outcome": PENDING if case["outcome"] == PENDING else None,
    }


def _check_wordings(question: str, wordings: Sequence[str], number: int) -> dict[str, Any]:
    problem = find_rephrasing_problem(question, wordings, number)
    if problem:
        return {"outcome": "rejected", "reason": f"by rule: {problem}"}
    return {"wordings": list(wordings), "outcome": DONE}


def _hold(work: StepRun[RephrasingConfig], rows: Sequence[Row]) -> AssetCheckResult:
    broken_rows = [
        (row["case_id"], row["form"], problem)
        for row in rows
        if row["outcome"] == DONE
        and (
            problem := find_rephrasing_problem(
                row["question"], row["wordings"], work.config.rephrasings
            )
        )
    ]
    table = pd.DataFrame(broken_rows, columns=["case_id", "form", "reason"])
    return build_check_result(f"{len(rows) - len(broken_rows):,} of {len(rows):,} hold", table)

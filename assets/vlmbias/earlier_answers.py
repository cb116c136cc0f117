"""Earlier answers of a judge, under other promptings, and changes of the model that answers."""

from collections.abc import Set
from typing import Any

import pandas as pd

from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.judging import JudgeStep
from assets.kit.model_lookup import digest_entry
from assets.kit.step_run import StepRun
from assets.kit.token_counts import TOKEN_COLUMNS
from assets.vlmbias.isolated_pictures import mark_isolated
from assets.vlmbias.prompting import VARIANTS, PromptingConfig, select_questions
from assets.vlmbias.questions import QUESTION_COLUMNS
from assets.vlmbias.responses import READING_COLUMNS, read_plainly
from resources.faults import CorruptItem

_NEWER_COLUMNS = CONDITION_COLUMNS.keys() | TOKEN_COLUMNS.keys()
"""Columns that a table lacks if an older version stored it."""


def load_questions(work: StepRun[PromptingConfig]) -> pd.DataFrame:
    """The topic's questions, with those marked that have an isolated photograph."""
    return mark_isolated(work.tables["questions"], work.partition, work.find_table)


def load_earlier_answers(
    step: JudgeStep[PromptingConfig], work: StepRun[PromptingConfig]
) -> pd.DataFrame:
    """Load the stored table of a judge and topic; empty if there is none, or it is damaged.

    It lacks the plain readings, which are made anew by the rules of today. Where an older version
    stored it, the conditions of its answers are unknown.
    """
    columns = [name for name in step.table.columns.columns if name not in READING_COLUMNS.columns]
    empty: pd.DataFrame = step.table.columns.build_table([]).to_pandas()[columns]
    try:
        table = _find_table(step, work, columns)
    except CorruptItem as error:
        work.log.warning("%s Its answers under other promptings are lost.", error)
        return empty
    return empty if table is None else table


def _find_table(
    step: JudgeStep[PromptingConfig], work: StepRun[PromptingConfig], columns: list[str]
) -> pd.DataFrame | None:
    try:
        return work.home.find(step.key, work.partition, columns)
    except CorruptItem:
        table = work.home.find(step.key, work.partition)
        if table is None or set(columns) - {*table} - _NEWER_COLUMNS:
            raise
        return table.reindex(columns=columns)


def load_other_promptings(
    step: JudgeStep[PromptingConfig],
    work: StepRun[PromptingConfig],
    current_promptings: Set[str],
) -> dict[str, list[dict[str, Any]]]:
    """Load the stored rows of all other promptings by name, and drop outdated ones."""
    stored_table, stored_rows = load_earlier_answers(step, work), {}
    for name in sorted(set(stored_table["prompting"]) - current_promptings):
        rows = stored_table[stored_table["prompting"] == name]
        reason = _explain_outdated(step, work, name, rows)
        if reason is None:
            stored_rows[name] = [
                row | read_plainly(row)
                for row in step.table.columns.build_table(
                    rows.assign(**dict.fromkeys(READING_COLUMNS.columns))
                ).to_pylist()
            ]
        else:
            work.log.warning(
                "%d answers under %s are dropped, since %s. To have them again, materialize "
                "with prompting: [%s].",
                *(len(rows), name, reason, name),
            )
    return stored_rows


def report_served_models(
    step: JudgeStep[PromptingConfig], work: StepRun[PromptingConfig], table: pd.DataFrame
) -> dict[str, Any]:
    """Report which models the provider says it served, and log a change of them."""
    current, earlier = (
        sorted(answers["served_model"].dropna().unique())
        for answers in (table, load_earlier_answers(step, work))
    )
    if len(current) > 1 or (current and earlier and current != earlier):
        change = f"before: {', '.join(earlier) or 'unknown'}; now: {', '.join(current)}"
        work.log.warning("The provider has changed which model answers. Served %s", change)
        return {"served_models": current, "served_model_changed": change}
    return {"served_models": current}


def has_same_questions(answers: pd.DataFrame, questions: pd.DataFrame) -> bool:
    """Return whether these answers are to these questions, in the same order."""
    return bool(
        QUESTION_COLUMNS.build_table(answers).equals(QUESTION_COLUMNS.build_table(questions))
    )


def _explain_outdated(
    step: JudgeStep[PromptingConfig],
    work: StepRun[PromptingConfig],
    prompting: str,
    answers: pd.DataFrame,
) -> str | None:
    questions = load_questions(work)
    if prompting not in VARIANTS or not has_same_questions(
        answers, select_questions(step.judge, questions, prompting, len(answers))
    ):
        return "the questions have changed"
    if set(answers["entry_version"]) != {digest_entry(step.judge)}:
        return f"the entry of {step.judge.name} in models.yaml has changed"
    return None

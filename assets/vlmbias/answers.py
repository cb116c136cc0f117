"""The answers of one judge to a topic's questions, read from curly brackets and scored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from dagster import StaticPartitionsDefinition

from assets.kit.checks import build_check_result, unparsed_rate_check
from assets.kit.columns import REAL, TEXT, TEXTS, Columns, to_records
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import Forecast
from assets.kit.judging import JudgeStep, reply_columns
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Conversation, Extent, Problem, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.kit.token_counts import TOKEN_COLUMNS
from assets.vlmbias.common import asset_key, drawn_topics, pondered_topics, topics
from assets.vlmbias.earlier_answers import (
    load_earlier_answers,
    load_other_promptings,
    load_questions,
    report_served_models,
)
from assets.vlmbias.isolated_pictures import find_isolated_pictures
from assets.vlmbias.measurements import MeasuredPicture, measure_pictures
from assets.vlmbias.prompting import (
    VARIANTS,
    PromptingConfig,
    count_questions,
    draw_titled_pictures,
    select_questions,
)
from assets.vlmbias.questions import QUESTION_COLUMNS, QUESTIONS
from assets.vlmbias.responses import READING_COLUMNS, STAND_IN_ANSWERS, first_prompt, score_row
from assets.vlmbias.results import answers_metadata
from generators.isolation import SUFFIX
from metrics import BASELINE
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import LookRequest, Turn

ANSWERS = Columns(
    **QUESTION_COLUMNS.columns,
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompting=(TEXT, "baseline, debiased, double-check, in-image title or isolated"),
    prompt=(TEXT, "Prompt sent with the image; a second turn stands below"),
    shown_sha256=(TEXT, "sha256 of the picture that was sent"),
    first_response=(TEXT, "First reply, before the request to double-check; else empty"),
    response=(TEXT, "The judge's reply; empty if it was blocked or failed"),
    answer=(TEXT, "Answer read from the curly brackets; empty if unreadable"),
    outcome=(TEXT, "answered, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if it refused; else empty"),
    reason=(TEXT, "The provider's reason for a refusal, or the last error; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty if refused or failed"),
    **READING_COLUMNS.columns,
    **CONDITION_COLUMNS,
    **TOKEN_COLUMNS,
    calls=(TEXTS, "Keys of the stored calls behind this row; none for a stand-in judge"),
)

_KEY_COLUMNS = ["image_id", "sha256", "question_id", "question"]
_FILLED_COLUMNS = {
    "answered": ("answer", "score"),
    "unparsed": ("score",),
    "refused": ("refusal",),
    "failed": (),
}
_SHOWN_COLUMNS = ["image_id", "prompting", "question", "response", "ground_truth", "outcome"]
_READ_RESPONSES_REMEDY = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "provider may refuse the pictures. The accuracy counts an unparsed answer as wrong."
)


def answerable_topics(judge: Model) -> StaticPartitionsDefinition:
    """The topics that a judge can answer: a pixel reader answers none of photographs.

    The stand-in that thinks answers one alone.
    """
    if judge.is_stand_in and judge.model == "pensive":
        return pondered_topics
    return drawn_topics if _is_pixel_reader(judge) else topics


def _is_pixel_reader(judge: Model) -> bool:
    return judge.is_stand_in and judge.model == "pixels"


class CountingAnswers(JudgeStep[PromptingConfig]):
    """A judge's answers; a limit is on the questions under each prompting.

    What its table holds under other promptings stays. A stand-in judge answers these anew as
    well: that costs nothing, and its own code may have changed.
    """

    config, stand_in_answers, example_request = PromptingConfig, STAND_IN_ANSWERS, LookRequest(())
    asset = StepAsset(
        key=asset_key("answers"), description="Answers of {model}, asked through {backend}."
    )
    table = StepTable(
        columns=ANSWERS,
        key_columns=(*_KEY_COLUMNS, "prompting"),
        filled_columns=_FILLED_COLUMNS,
        unstored_keys=(*QUESTIONS.columns, "readings", "effort"),
    )
    forecast = Forecast(
        may_have_follow_up=lambda row: VARIANTS[row["prompting"]].follow_up is not None
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {"questions": Input(asset_key("questions"), row_columns=QUESTIONS)}
        description = self.asset.description
        if judge.is_stand_in:
            behaviour = "which is told the expected bias"
            if judge.model == "pensive":
                behaviour = "which is right at a stated rate for its effort"
            if _is_pixel_reader(judge):
                behaviour = "which measures the image it is shown"
                reading_columns = ["sha256", "target", "measured"]
                self.inputs["measurements"] = Input(
                    asset_key("measurements"), columns=reading_columns
                )
            description = f"Answers of the stand-in judge `{judge.model}`, {behaviour}."
        partitions_def = answerable_topics(judge)
        self.asset = replace(self.asset, description=description, partitions_def=partitions_def)
        self.table = replace(
            self.table, list_expected_keys=self._list_keys, find_problems=self._find_problems
        )

    def rows(self, work: StepRun[PromptingConfig]) -> list[dict[str, Any]]:
        """A row for each question under each prompting, and the picture that is shown for it."""
        names = set(work.config.prompting)
        if self.judge.is_stand_in:
            names |= set(load_earlier_answers(self, work)["prompting"])
        all_questions, readings = work.read_rows("questions"), self._readings(work)
        rows = []
        for name in (name for name in VARIANTS if name in names):
            places = self._questions(work, name, work.config.limit).index
            questions = [all_questions[place] for place in places]
            shown = _find_shown_pictures(work, name, questions)
            shown_readings = self._read_shown(work, name, shown)
            rows += [
                {
                    **question,
                    "model": self.judge.name,
                    "entry_version": self.asset.code_version,
                    "prompting": name,
                    "prompt": _prompt(name, question["question"]),
                    "shown_sha256": shown.get(question["sha256"], question["sha256"]),
                    "calls": [],
                    "readings": shown_readings if shown else readings,
                    "effort": self.judge.parameters.get("effort"),
                }
                for question in questions
            ]
        return rows

    def query(self, work: StepRun[PromptingConfig], row: Row) -> Conversation:
        """Ask, and where it has answered ask it to double-check, if the prompting says so.

        The first turn of a double-check is the baseline's request, paid for once.
        """
        question = Turn("user", first_prompt(row), (row["shown_sha256"],))
        reply = yield LookRequest((question,))
        follow_up = VARIANTS[row["prompting"]].follow_up
        if not (follow_up and isinstance(reply.outcome, AnsweredOutcome) and reply.outcome.text):
            return reply_columns(reply)
        response_text = reply.outcome.text
        checked_reply = yield LookRequest(
            (question, Turn("assistant", response_text), Turn("user", follow_up))
        )
        calls = [*reply.calls, *checked_reply.calls]
        return {**reply_columns(checked_reply), "first_response": response_text, "calls": calls}

    def finish(
        self, work: StepRun[PromptingConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Score all answers, and add those under promptings that were not asked for now."""
        rows_by_prompting: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            rows_by_prompting.setdefault(row["prompting"], []).append(score_row(row))
        rows_by_prompting |= load_other_promptings(self, work, set(rows_by_prompting))
        return [row for name in VARIANTS for row in rows_by_prompting.get(name, ())]

    def extent(self, work: StepRun[PromptingConfig], rows: Sequence[Row]) -> Extent:
        """Count the answers, of all questions under the promptings in the table."""
        names = {row["prompting"] for row in rows}
        return Extent(
            count=len(rows),
            total=count_questions(self.judge, load_questions(work), names),
            unit="questions",
        )

    def metadata(self, work: StepRun[PromptingConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Rates with intervals, some answers, wrong ones in pictures, and which model answered."""
        table = self.build_table(rows).to_pandas()
        return {
            "answers": len(table),
            "prompting": list(table["prompting"].unique()),
            "sample": markdown_table(
                table[_SHOWN_COLUMNS].iloc[:: max(1, len(table) // 10)].head(10)
            ),
            **answers_metadata(table, work.images),
            **report_served_models(self, work, table),
        }

    def _list_keys(
        self, work: StepRun[PromptingConfig], rows: Sequence[Row]
    ) -> Iterator[tuple[Any, ...]]:
        """List the questions under each prompting; after a limited run, those within the limit."""
        answered_names: dict[str, set[tuple[Any, ...]]] = {}
        for row in rows:
            answered_names.setdefault(row["prompting"], set()).add(
                tuple(row[name] for name in _KEY_COLUMNS)
            )
        names_by_prompting = answered_names or {name: set() for name in work.config.prompting}
        for prompting, stored_names in names_by_prompting.items():
            for limit in (max(1, len(stored_names)), None):
                questions = self._questions(work, prompting, limit)[_KEY_COLUMNS]
                names = list(questions.itertuples(index=False, name=None))
                if set(names) == stored_names:
                    break
            yield from ((*name, prompting) for name in names)

    def _find_problems(
        self, work: StepRun[PromptingConfig], rows: Sequence[Row]
    ) -> Iterator[Problem]:
        """The rows that have neither a response nor a reason."""
        for row in rows:
            if row.get("response") is None and row.get("reason") is None:
                yield " ".join(row[name] for name in _KEY_COLUMNS), "neither response nor reason"

    def checks(self) -> list[Check]:
        """Check that most replies are readable and that the truths hold."""
        holds = [_build_truths_check()] if _is_pixel_reader(self.judge) else []
        return [unparsed_rate_check("prompting", _READ_RESPONSES_REMEDY), *holds]

    def _questions(
        self, work: StepRun[PromptingConfig], prompting: str, limit: int | None = None
    ) -> pd.DataFrame:
        return select_questions(self.judge, load_questions(work), prompting, limit)

    def _readings(self, work: StepRun[PromptingConfig]) -> Mapping[tuple[str, str], float]:
        """Return the readings of pixels by sha256 and target; empty for other judges."""
        if "measurements" not in work.tables:
            return {}
        readings = to_records(work.tables["measurements"].dropna(subset="measured"))
        return {(row["sha256"], row["target"]): row["measured"] for row in readings}

    def _read_shown(
        self, work: StepRun[PromptingConfig], prompting: str, shown: Mapping[str, str]
    ) -> Mapping[tuple[str, str], float]:
        """Return likewise the readings of other pictures shown, for all of their questions."""
        if "measurements" not in work.tables or not shown:
            return {}
        targets = work.tables["measurements"].groupby("sha256")["target"].agg(tuple)
        pictures = {
            digest: MeasuredPicture(
                sha256=titled, targets=targets[digest], is_legibility_read=False
            )
            for digest, titled in shown.items()
        }
        topic = f"{work.partition}{SUFFIX if VARIANTS[prompting].is_isolated else ''}"
        measured = measure_pictures(topic, pictures, work.images, work.work_cache).results
        return {
            (picture.sha256, target): reading
            for digest, picture in pictures.items()
            # There are none where any target cannot be read: the judge says what is missing.
            for target, reading in zip(picture.targets, measured[digest]["readings"], strict=False)
        }


def _find_shown_pictures(
    work: StepRun[PromptingConfig], prompting: str, questions: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Map the sha256 of pictures asked about to that of what is shown; empty for themselves."""
    if VARIANTS[prompting].has_title:
        return draw_titled_pictures(questions, work.images, work.work_cache)
    if VARIANTS[prompting].is_isolated and questions:
        return find_isolated_pictures(questions, work.partition, work.find_table)
    if VARIANTS[prompting].is_isolated:
        work.log.warning(
            "Nothing is asked of %s without background: no person has accepted such pictures of "
            "these photographs. Materialize vlmbias/isolated_edits, review its pictures, and "
            "materialize vlmbias/isolated_photographs.",
            work.partition,
        )
    return {}


def _build_truths_check() -> Check:
    def passes(work: StepRun[PromptingConfig], rows: Sequence[Row]) -> Any:
        plain = [row for row in rows if row["prompting"] == BASELINE]
        columns = ["image_id", "question", "response", "ground_truth"]
        wrong_rows = pd.DataFrame([row for row in plain if row["score"] != 1.0], columns=columns)
        right_count = len(plain) - len(wrong_rows)
        return build_check_result(
            f"{right_count} of {len(plain)} truths hold", wrong_rows, questions=len(plain)
        )

    return Check(
        "truths_hold",
        "The published answers are those of a judge that reads the pixels.",
        passes,
        blocking=True,
    )


def _prompt(prompting: str, question: str) -> str:
    """Build the text of both turns that a judge gets beside the image."""
    variant = VARIANTS[prompting]
    return "\n\n".join(filter(None, [f"{variant.prefix}{question}", variant.follow_up]))

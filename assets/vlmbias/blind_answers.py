"""The blind answers of one judge: what it says to a scene's question without the picture.

A scene's blind question is its Q1, which is the same at every size, behind the subject's name: the
words of Q1 alone leave open which flag is meant. Scenes of one subject with the same question share
a request. Originals are not asked about: their familiar answer is the truth.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from assets.kit.blind_questions import build_blind_request, put_blind_pictures
from assets.kit.checks import unparsed_rate_check
from assets.kit.columns import BOOLEAN, TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, JudgeStep, StandInAnswers, reply_columns
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vlmbias.answers import answerable_topics
from assets.vlmbias.common import asset_key
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.responses import READING_COLUMNS, score_row
from generators.prompts.blind import write_blind_prompt
from generators.topics import format_caption
from resources.models.catalog import Catalog, Model
from resources.models.reference_judges import PriorJudge, RandomJudge
from resources.models.requests import LookRequest

QUESTION_ID = "Q1"
"""The question that is asked blind as well."""

BLIND_ANSWERS = Columns(
    **QUESTIONS.subset("base_id", "domain", "subject", "subtopic", "question_id", "question"),
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompt=(TEXT, "Prompt sent"),
    shown_sha256=(TEXT, "sha256 of the grey picture that was sent; empty for words alone"),
    answer=(TEXT, "Answer read from the curly brackets; empty if unreadable"),
    **READING_COLUMNS.columns,
    **REPLY_COLUMNS,
    is_stand_in=(BOOLEAN, "True if a stand-in judge answered, so that it is no result"),
)
"""Table with one row per changed scene."""
NO_BLIND_ANSWERS = BLIND_ANSWERS.build_table([]).to_pandas()

_READ_RESPONSES_REMEDY = (
    "Read some of the table's responses. A judge that refuses without a picture may answer beside "
    "a grey one: write `blind: grey` in its entry of models.yaml, and materialize again."
)
_STAND_IN_RESPONSES: StandInAnswers = {
    "prior": lambda row, images: {
        "response": PriorJudge().answer_informed(row["prompt"], b"", row["expected_bias"])
    },
    "random": lambda row, images: {
        "response": RandomJudge(row["seed"]).answer_informed(
            row["prompt"], b"", row["expected_bias"]
        )
    },
    "pixels": lambda row, images: {
        **{"response": None, "outcome": "refused", "refusal": "model"},
        "reason": "It reads pixels, and was shown no picture.",
    },
}


class BlindAnswers(JudgeStep[LimitConfig]):
    """A judge's answers without pictures; a limit is on scenes."""

    config, example_request = LimitConfig, LookRequest(())
    stand_in_answers = _STAND_IN_RESPONSES
    asset = StepAsset(
        key=asset_key("blind_answers"),
        description=(
            "Answers of {name} to Q1 of each changed scene without its picture: what it remembers."
        ),
    )
    table = StepTable(
        columns=BLIND_ANSWERS,
        key_columns=("base_id",),
        filled_columns={"answered": ("answer",), "unparsed": (), "refused": ("refusal",)}
        | {"failed": ()},
        unstored_keys=("score",),
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {"questions": Input(asset_key("questions"), row_columns=QUESTIONS)}
        self.asset = replace(self.asset, partitions_def=answerable_topics(judge))

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """A row for each changed scene, of the question about its smallest picture."""
        scenes = stratified_head(
            list_scene_questions(work.read_rows("questions")),
            work.config.limit,
            _build_sampling_key,
        )
        grey = put_blind_pictures(self.judge, {row["sha256"] for row in scenes}, work.images)
        return [
            {
                **question,
                "model": self.judge.name,
                "entry_version": self.asset.code_version,
                "prompt": write_blind_prompt(
                    question["question"], format_caption(question["domain"], question["subject"])
                ),
                "shown_sha256": grey.get(question["sha256"]),
                "is_stand_in": self.judge.is_stand_in,
                "calls": [],
            }
            for question in scenes
        ]

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask the question without its picture."""
        request = build_blind_request(row["prompt"], row["shown_sha256"])
        return reply_columns((yield request))

    def finish(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Read all responses as the answers about pictures are read."""
        return [score_row(row) for row in rows]

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Count the scenes asked, of all changed ones."""
        return Extent(
            count=len(rows),
            total=len(list_scene_questions(work.read_rows("questions"))),
            unit="scenes",
        )

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Show some answers."""
        sample = pd.DataFrame(rows[:: max(1, len(rows) // 10)][:10])
        return {"sample": markdown_table(sample[["base_id", "prompt", "response", "outcome"]])}

    def checks(self) -> list[Check]:
        """Check that most replies are readable."""
        return [unparsed_rate_check("domain", _READ_RESPONSES_REMEDY)]


def list_scene_questions(questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """List Q1 about the smallest picture of each changed scene."""
    questions = [
        question
        for question in questions
        if question["variant"] == "counterfactual" and question["question_id"] == QUESTION_ID
    ]
    questions.sort(key=lambda question: question["size"], reverse=True)
    return [*{question["base_id"]: question for question in questions}.values()]


def _build_sampling_key(question: Row) -> SamplingKey:
    return SamplingKey(question["base_id"], (question["subtopic"],))

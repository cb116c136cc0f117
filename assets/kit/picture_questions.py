"""Benchmarks of one question about one picture a row: their step, and the table of their release.

A row has the `question` and the picture's `sha256`; what a reply means is the benchmark's own.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dagster import AssetKey

from assets.kit.columns import TEXT, Columns
from assets.kit.judging import LimitedJudgeStep, reply_columns
from assets.kit.licences import OWN
from assets.kit.limits import LimitConfig
from assets.kit.release_rows import SPLITS, find_split
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.kit.step import Conversation
from assets.kit.step_run import Row, StepRun
from metrics import ParsedAnswer
from resources.models.requests import LookRequest, Turn


class PictureQuestionStep(LimitedJudgeStep):
    """A judge's answers to the `question` of each row about its picture."""

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask the question about the picture."""
        turn = Turn("user", row["question"], (row["sha256"],))
        return reply_columns((yield LookRequest((turn,))))

    def finish(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Read all replies; a row without one has its outcome already."""
        return [
            row if row.get("response") is None else {**row, **self.read_reply(row)} for row in rows
        ]

    @abstractmethod
    def read_reply(self, row: Row) -> dict[str, Any]:
        """The columns that the `response` of a row gives."""


def parsed_columns(parsed: ParsedAnswer) -> dict[str, Any]:
    """Build `answer` and `outcome` of what was read from a reply, and `refusal` if it is one."""
    refused = {"refusal": "model"} if parsed.outcome == "refused" else {}
    return {"answer": parsed.answer, "outcome": parsed.outcome, **refused}


def write_answer(answer: str) -> dict[str, Any]:
    """Build the cells of a stand-in's answer in curly brackets."""
    return {"response": f"{{{answer}}}", "outcome": "answered"}


def build_release_table(
    config: str,
    *,
    description: str,
    asset: AssetKey,
    questions: Columns,
    id_columns: Sequence[str],
    scene_column: str,
    list_questions: Callable[[ReleaseInputs], Iterable[Row]],
) -> ReleaseTable:
    """The released questions, whose labels are read back from the pixels of drawn pictures.

    `id_columns` name a row, and `scene_column` names what is one picture to a person.
    """
    columns = Columns(
        id=(TEXT, f"Name of the row: {', '.join(id_columns)}"),
        image=(TEXT, "The picture"),
        **questions.columns,
        proof=(TEXT, "pixels: the label is read back from them"),
    )

    def read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
        for row in list_questions(inputs):
            if find_split(row[scene_column]) == split:
                name = "/".join(row[column] for column in id_columns)
                yield ReleaseRow(
                    row_id=name,
                    cells={"id": name, "image": row["sha256"], **row, "proof": "pixels"},
                    base_image=row[scene_column],
                    proof="pixels",
                    parts=(OWN,),
                    is_stand_in=bool(row.get("is_stand_in")),
                )

    return ReleaseTable(
        config=config,
        description=description,
        columns=columns,
        sources=dict.fromkeys(columns.columns, asset),
        splits=SPLITS,
        read_rows=read_rows,
        prompt_column="question",
        truth_column="ground_truth",
    )

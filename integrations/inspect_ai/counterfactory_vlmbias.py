"""VLMBias of a released folder as a task for inspect_ai.

inspect eval integrations/inspect_ai/counterfactory_vlmbias.py -T folder=vlmbias-release
"""

import base64
import sys
from pathlib import Path
from typing import Any

import datasets
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

sys.path.append(str(Path(__file__).parents[1]))
from counterfactory_scorer import mean_of_answered, read_answer, score_row

_METADATA = (
    *("sha256", "ground_truth", "expected_bias", "accepted"),
    *("topic", "question_id", "image_set"),
)


@task
def counterfactory_vlmbias(
    folder: str = "vlmbias-release", config: str = "questions", split: str = "test"
) -> Task:
    """Ask each question of a split once, the picture before the text."""
    rows = datasets.load_dataset(str(Path(folder).resolve()), config, split=split)
    rows = rows.cast_column("image", datasets.Image(decode=False))
    return Task(
        dataset=MemoryDataset([_build_sample(row) for row in rows]),
        solver=generate(),
        scorer=bracketed_answer(),
    )


@metric
def mean_answered() -> Metric:
    """Average the scores of Q1 and Q2 about the benchmark's pictures, without refusals."""

    def average(scores: list[SampleScore]) -> float:
        return mean_of_answered([score.score.as_float() for score in scores])

    return average


@scorer(metrics={"accuracy": [mean_answered()], "bias": [mean_answered()]})
def bracketed_answer() -> Scorer:
    """Read the answer in curly brackets, as Counterfactory does."""

    async def score(state: TaskState, target: Target) -> Score:
        reply, row = state.output.completion, state.metadata
        return Score(
            value=score_row(reply, row),
            answer=read_answer(reply, target.text, row["accepted"] or ()).answer,
            explanation=reply,
        )

    return score


def _build_sample(row: dict[str, Any]) -> Sample:
    picture = f"data:image/png;base64,{base64.b64encode(row['image']['bytes']).decode()}"
    return Sample(
        id=row["id"],
        input=[
            ChatMessageUser(content=[ContentImage(image=picture), ContentText(text=row["prompt"])])
        ],
        target=row["ground_truth"],
        metadata={name: row[name] for name in _METADATA},
    )

"""What every judge answers, read from its curly brackets and scored."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetIn, AssetsDefinition, MaterializeResult

from assets.columns import REAL, TEXT, Columns, materialized, records
from assets.previews import markdown_table
from assets.vlmbias.common import GROUP, table_asset
from assets.vlmbias.questions import QUESTIONS
from metrics import read_count, read_yes_no, score
from resources.images import ImageStore
from resources.judges import InformedJudge, Judge, PixelsJudge, PriorJudge, RandomJudge

ANSWERS = Columns(
    **QUESTIONS.columns,
    model=(TEXT, "The judge"),
    prompting=(TEXT, "How it was asked: baseline is the question alone"),
    prompt=(TEXT, "What it was sent beside the image"),
    response=(TEXT, "What it said"),
    answer=(TEXT, "What was read from its curly brackets; empty where nothing could be"),
    outcome=(TEXT, "answered, unparsed, refused or failed"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty where it refused or failed"),
)

_SHOWN = ["image_id", "question", "response", "ground_truth", "expected_bias", "outcome"]


def scored(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with `response` and `ground_truth`, with `answer`, `outcome` and `score` added."""
    for row in rows:
        read = read_yes_no if row["ground_truth"] in ("Yes", "No") else read_count
        parsed = read(row["response"])
        row["answer"], row["outcome"] = parsed.answer, parsed.outcome
        row["score"] = score(parsed, row["ground_truth"])
    return rows


def _table(
    model: str, questions: pd.DataFrame, respond: Callable[[dict[str, Any]], str]
) -> MaterializeResult[pa.Table]:
    rows = [
        {
            **question,
            "model": model,
            "prompting": "baseline",
            "prompt": question["question"],
            "response": respond(question),
        }
        for question in records(questions)
    ]
    table = ANSWERS.table(scored(rows))
    return materialized(
        table,
        answers=len(rows),
        **Counter(row["outcome"] for row in rows),
        sample=markdown_table(pd.DataFrame(rows)[_SHOWN].iloc[:: max(1, len(rows) // 10)].head(10)),
    )


def informed_answers(name: str, judge_of: Callable[[int], InformedJudge]) -> AssetsDefinition:
    """The answers of a reference judge, made from a seed, that is told the expected bias."""

    @table_asset(
        key=["answers", name],
        kinds=["judge"],
        pool=name,
        columns=ANSWERS,
        ins={"questions": AssetIn([GROUP, "questions"])},
        description=f"Answers of the reference judge `{name}`, which is told the expected bias.",
    )
    def answers(questions: pd.DataFrame, images: ImageStore) -> MaterializeResult[pa.Table]:
        judge = judge_of(int(questions["seed"].iloc[0]))
        return _table(
            name,
            questions,
            lambda row: judge.answer_informed(
                row["question"], images.get(row["sha256"]), row["expected_bias"]
            ),
        )

    return answers


def answers_of(
    model: str, judge: Judge, questions: pd.DataFrame, images: ImageStore
) -> MaterializeResult[pa.Table]:
    """A judge's answers: it is shown the prompt and the image, and nothing else."""
    return _table(
        model,
        questions,
        lambda row: judge.answer(row["question"], images.get(row["sha256"])),
    )


prior = informed_answers("prior", lambda seed: PriorJudge())
random = informed_answers("random", RandomJudge)


@table_asset(
    key=["answers", "pixels"],
    kinds=["judge"],
    pool="pixels",
    columns=ANSWERS,
    ins={
        "questions": AssetIn([GROUP, "questions"]),
        "measurements": AssetIn(
            [GROUP, "measurements"], metadata={"columns": ["sha256", "target", "measured"]}
        ),
    },
    description="Answers of the reference judge `pixels`, which measures the image it is shown.",
)
def pixels(
    questions: pd.DataFrame,
    measurements: pd.DataFrame,
    images: ImageStore,
) -> MaterializeResult[pa.Table]:
    """Answer from what was read in the very same bytes, and measure what was not."""
    readings = {
        (row["sha256"], row["target"]): row["measured"]
        for row in records(measurements.dropna(subset="measured"))
    }
    return answers_of("pixels", PixelsJudge(readings), questions, images)

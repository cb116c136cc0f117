"""How often judges are right, and how often they are wrong as expected."""

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MaterializeResult

from assets.columns import REAL, TEXT, WHOLE, Columns, materialized
from assets.partitions import topics
from assets.previews import markdown_table
from assets.vlmbias.common import GROUP, JUDGES, table_asset
from assets.vlmbias.questions import QUESTIONS, Mismatch
from metrics import TASK_MEAN, accuracy_table

ACCURACY = Columns(
    model=(TEXT, "The judge"),
    prompting=(TEXT, "How it was asked"),
    image_set=(TEXT, "benchmark (the 912) or originals (the 117)"),
    topic=(TEXT, "Topic, or the mean over topics (Table 2)"),
    subtopic=(TEXT, "Column of Tables 3 and 9; all for the whole topic"),
    questions=(TEXT, "Q1 & Q2, or Q3"),
    base_images=(WHOLE, "Scenes: what the interval resamples"),
    answers=(WHOLE, "Rows behind the figures"),
    accuracy=(REAL, "Share of right answers"),
    accuracy_low=(REAL, "Lower end of its 95 % interval"),
    accuracy_high=(REAL, "Upper end of its 95 % interval"),
    bias_rate=(REAL, "Share of answers equal to the expected bias, where that is wrong"),
    bias_rate_low=(REAL, "Lower end of its 95 % interval"),
    bias_rate_high=(REAL, "Upper end of its 95 % interval"),
    bias_share_of_wrong=(REAL, "Share of the wrong answers that equal the expected bias"),
    unparsed_rate=(REAL, "Share of responses without a readable answer"),
    refused_rate=(REAL, "Share of refusals"),
    failed_rate=(REAL, "Share of requests without a response"),
)

EVERY_TOPIC = {"allow_missing_partitions": True}
"""Metadata of an input that takes the topics there are, as tables by topic."""

ANSWER_INS = {judge: AssetIn([GROUP, "answers", judge], metadata=EVERY_TOPIC) for judge in JUDGES}


class NothingYet(ValueError):
    """No topic has been materialized that far."""


@table_asset(
    by_topic=False,
    columns=ACCURACY,
    ins={"questions": AssetIn([GROUP, "questions"], metadata=EVERY_TOPIC), **ANSWER_INS},
    description="Accuracy and bias rate of every judge with 95 % intervals (Tables 2, 3 and 9).",
)
def accuracy(
    context: AssetExecutionContext,
    questions: dict[str, pd.DataFrame],
    **answers: dict[str, pd.DataFrame],
) -> MaterializeResult[pa.Table]:
    """Score the topics there are; those that a judge has not answered yet are named."""
    rows = accuracy_table(all_answers(questions, answers))
    missing = {
        judge: [topic for topic in topics.get_partition_keys() if topic not in by_topic]
        for judge, by_topic in answers.items()
    }
    for judge, topics_missing in missing.items():
        if topics_missing:
            context.log.warning("%s has not answered %s yet", judge, ", ".join(topics_missing))
    means = rows[(rows["topic"] == TASK_MEAN) & (rows["image_set"] == "benchmark")]
    shown = ["model", "questions", "accuracy", "accuracy_low", "accuracy_high", "bias_rate"]
    return materialized(
        ACCURACY.table(rows),
        task_mean=markdown_table(means[shown].round(4)),
        topics=sorted({topic for by_topic in answers.values() for topic in by_topic}),
        missing=missing,
    )


def all_answers(
    questions: dict[str, pd.DataFrame], answers: dict[str, dict[str, pd.DataFrame]]
) -> pd.DataFrame:
    """The answers of every judge to every topic, in one table.

    Raises `NothingYet` where there are none, and `Mismatch` where a judge answered other
    questions than those that are stored now.
    """
    columns = list(QUESTIONS.columns)
    for judge, by_topic in answers.items():
        for topic, table in by_topic.items():
            asked = questions.get(topic)
            if asked is None or not table[columns].equals(asked[columns]):
                raise Mismatch(
                    f"vlmbias/answers/{judge} ({topic}) answers other questions than "
                    f"vlmbias/questions ({topic}) holds now. Materialize vlmbias/answers/{judge} "
                    f"for {topic} again."
                )
    tables = [table for by_topic in answers.values() for table in by_topic.values()]
    if not tables:
        raise NothingYet("No judge has answered yet: materialize the topics of vlmbias first.")
    return pd.concat(tables, ignore_index=True)

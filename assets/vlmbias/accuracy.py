"""Accuracy and bias rate of judges."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    MarkdownMetadataValue,
    MaterializeResult,
    StaticPartitionsDefinition,
)

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, content_hash, to_materialize_result
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.limits import format_count_of_total
from assets.kit.previews import inline_tables
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.kit.token_counts import TOKEN_COLUMNS
from assets.vlmbias.answers import ANSWERS, answerable_topics
from assets.vlmbias.common import GROUP, answers_key, table_asset, topics
from assets.vlmbias.earlier_answers import has_same_questions
from assets.vlmbias.isolated_pictures import mark_isolated
from assets.vlmbias.pages.figures import BENCHMARK, ORIGINALS, PARTIAL
from assets.vlmbias.prompting import count_questions, select_questions
from assets.vlmbias.results import format_rates, select_topic_rows
from metrics import EVERY_SIZE, TASK_MEAN, accuracy_table
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot
from resources.storage.streamed_tables import require_columns

ACCURACY = Columns(
    model=(TEXT, "The judge"),
    prompting=(TEXT, "Way of asking"),
    image_set=(
        TEXT,
        "benchmark, originals, or both together as all_originals and all_counterfactuals; "
        "photographs also have unreviewed and stand-in, and a judge asked only some questions "
        "has partial: these three enter no other row",
    ),
    size=(TEXT, "Longer side in px, or all"),
    topic=(TEXT, "Topic, or the mean over topics (Table 2)"),
    subtopic=(TEXT, "Column of Tables 3 and 9; all for the whole topic"),
    questions=(TEXT, "Q1 & Q2, Q3, or of the sanity check Identification and Known count"),
    base_images=(WHOLE, "Scenes, which the interval resamples"),
    requests=(WHOLE, "Requests"),
    answers=(WHOLE, "Rows behind the figures: all but refused and failed requests"),
    unanswered=(WHOLE, "Requests without a readable answer: unparsed, refused or failed"),
    accuracy=(REAL, "Share of right answers"),
    accuracy_low=(REAL, "Lower end of its 95 % interval"),
    accuracy_high=(REAL, "Upper end of its 95 % interval"),
    bias_rate=(REAL, "Share of answers equal to the expected bias, where that is wrong"),
    bias_rate_low=(REAL, "Lower end of its 95 % interval"),
    bias_rate_high=(REAL, "Upper end of its 95 % interval"),
    biased_errors=(REAL, "Share of answers that are wrong and equal to the expected bias"),
    bias_share_of_wrong=(REAL, "Share of the wrong answers that equal the expected bias"),
    bias_share_of_wrong_low=(REAL, "Lower end of its 95 % interval"),
    bias_share_of_wrong_high=(REAL, "Upper end of its 95 % interval"),
    change=(REAL, "Accuracy less the baseline's, on questions answered under both promptings"),
    change_low=(REAL, "Lower end of its 95 % interval"),
    change_high=(REAL, "Upper end of its 95 % interval"),
    unparsed_rate=(REAL, "Share of responses without a readable answer"),
    refused_rate=(REAL, "Share of refusals"),
    failed_rate=(REAL, "Share of requests without a response"),
)

_LABELS = ["model", "prompting", "questions"]

_LATEST: dict[bytes, pd.DataFrame] = {}
"""The latest figures by the hash of their answers, since resampling takes long."""

TablesByTopic: TypeAlias = dict[str, pd.DataFrame]
"""The tables of the topics that there are."""


def build_accuracy_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `accuracy` of these judges."""

    @table_asset(
        partitions=None,
        columns=ACCURACY,
        deps=[
            AssetDep(AssetKey([GROUP, "questions"])),
            *(AssetDep(answers_key(judge.name)) for judge in judges),
        ],
        description="Accuracy and bias rate of every judge with 95 % intervals (Tables 2 to 5).",
    )
    def accuracy(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Score the topics there are; those that a judge has not answered yet are named."""
        questions, answers = load_answers(home, judges)
        rows = build_accuracy_figures(concatenate_answers(judges, questions, answers))
        missing = {
            judge.name: [
                topic
                for topic in answerable_topics(judge).get_partition_keys()
                if topic not in answers[judge.name]
            ]
            for judge in judges
        }
        for judge, topics_missing in missing.items():
            if topics_missing:
                context.log.warning("%s has not answered %s yet", judge, ", ".join(topics_missing))
        means = rows[(rows["topic"] == TASK_MEAN) & (rows["image_set"] == "benchmark")]
        means = means[(means["size"] == EVERY_SIZE) & means["accuracy"].notna()]
        topic_rows = select_topic_rows(rows)
        return to_materialize_result(
            ACCURACY.build_table(rows),
            # In an order that does not depend on the run.
            *(
                tables[topic]
                for tables in (questions, *answers.values())
                for topic in sorted(tables)
            ),
            **_tabulate_rates("task_mean", means, _LABELS),
            **_tabulate_rates("by_topic", topic_rows, ["topic", "image_set", *_LABELS]),
            topics=sorted({topic for tables in answers.values() for topic in tables}),
            missing=missing,
            partial=describe_partial_answers(judges, questions, answers),
        )

    return accuracy


def _tabulate_rates(
    name: str, rows: pd.DataFrame, labels: Sequence[str]
) -> dict[str, MarkdownMetadataValue]:
    """Tables of rates; where no judge was asked in another way than the baseline, of no changes."""
    columns = [*labels, "change"] if rows["change"].notna().any() else labels
    return inline_tables(name, format_rates(rows.round(3), columns), *labels)


def build_accuracy_figures(answers: pd.DataFrame) -> pd.DataFrame:
    """Build the `accuracy_table` of answers; cached for the latest answers.

    The report compares it with the stored figures, which may be of other answers.
    """
    contents = content_hash(pa.Table.from_pandas(answers, preserve_index=False))
    if contents not in _LATEST:
        rows = accuracy_table(answers)
        _LATEST.clear()
        _LATEST[contents] = rows
    return _LATEST[contents].copy()


def load_answers(
    home: DataRoot, judges: Sequence[Model]
) -> tuple[TablesByTopic, dict[str, TablesByTopic]]:
    """The questions, and by judge the answers.

    The data version of `accuracy` covers all of these tables.
    """

    def load_by_topic(asset: AssetKey, partitions_def: StaticPartitionsDefinition) -> TablesByTopic:
        tables = {topic: home.find(asset, topic) for topic in partitions_def.get_partition_keys()}
        return {topic: table for topic, table in tables.items() if table is not None}

    questions = load_by_topic(AssetKey([GROUP, "questions"]), topics)
    marked = {topic: mark_isolated(table, topic, home.find) for topic, table in questions.items()}
    return marked, {
        judge.name: load_by_topic(answers_key(judge.name), answerable_topics(judge))
        for judge in judges
    }


def _iterate_promptings(
    judges: Sequence[Model], answers: dict[str, TablesByTopic]
) -> Iterator[tuple[Model, str, str, pd.DataFrame]]:
    """The answers by judge, topic and prompting."""
    for judge in judges:
        for topic, table in answers[judge.name].items():
            asset_name = answers_key(judge.name).to_user_string()
            remedy = f"Materialize {asset_name} ({topic}) again."
            needed = ANSWERS.columns.keys() - CONDITION_COLUMNS.keys() - TOKEN_COLUMNS.keys()
            require_columns(f"of {asset_name} ({topic})", sorted(needed), table, remedy)
            for prompting, rows in table.groupby("prompting", sort=False):
                yield judge, topic, str(prompting), rows


def concatenate_answers(
    judges: Sequence[Model], questions: TablesByTopic, answers: dict[str, TablesByTopic]
) -> pd.DataFrame:
    """The answers of every judge to every topic, in one table.

    Answers to a part of the questions are of the image set `PARTIAL`, unless they are of pictures
    that prove nothing. Raises `NotMaterialized` where there are none, and `TablesMismatch` where a
    judge answered other questions than those that are stored now.
    """
    tables = []
    for judge, topic, prompting, rows in _iterate_promptings(judges, answers):
        topic_questions = questions.get(topic)
        if topic_questions is None or not has_same_questions(
            rows, select_questions(judge, topic_questions, prompting, len(rows))
        ):
            raise TablesMismatch(
                f"vlmbias/answers_{judge.name} ({topic}, {prompting}) answers other "
                f"questions than vlmbias/questions ({topic}) holds now. Materialize "
                f"vlmbias/answers_{judge.name} for {topic} again."
            )
        if len(rows) < count_questions(judge, topic_questions, [prompting]):
            is_published = rows["image_set"].isin((BENCHMARK, ORIGINALS))
            tables.append(rows.assign(image_set=rows["image_set"].mask(is_published, PARTIAL)))
        else:
            tables.append(rows)
    if not tables:
        raise NotMaterialized("No judge has answered yet: materialize the topics of vlmbias first.")
    return pd.concat(tables, ignore_index=True)


def describe_partial_answers(
    judges: Sequence[Model], questions: TablesByTopic, answers: dict[str, TablesByTopic]
) -> dict[str, list[str]]:
    """Describe, by judge, topics answered in part: the count of questions answered, of how many."""
    descriptions: dict[str, list[str]] = {}
    for judge, topic, prompting, rows in _iterate_promptings(judges, answers):
        total = count_questions(judge, questions[topic], [prompting])
        if len(rows) < total:
            count_text = format_count_of_total(len(rows), total, "questions")
            descriptions.setdefault(judge.name, []).append(f"{topic}, {prompting}: {count_text}")
    return descriptions

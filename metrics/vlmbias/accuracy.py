"""VLMBias's Tables 2 to 5 and Figure 4 from the long table of answers: rates with intervals.

- Accuracy is over the answers that were given: an unparsed one is wrong, a refused or a failed
  one is none and is reported as a rate of all that was asked.
- The bias rate is the share of given answers that are the expected bias, over those questions
  whose expected bias is wrong: where bias and truth are the same (all of the originals, Q3 of
  an original illusion), the right answer says nothing about looking. Without such a question it
  is null. The bias share of wrong is the same over those answers that are wrong, and biased
  errors are the wrong and biased ones as a share of all that were given.
- The change is what another prompting makes of the baseline's accuracy, over the questions that
  got an answer both times, so that a refusal is neither a gain nor a loss.
- The task mean is the mean over topics (the paper's Table 2), each weighing the same; a number
  that one of the topics lacks, or that belongs to a model which has not answered a topic that
  another one has, is null there, except that the bias share is the mean over the
  topics in which some answers are wrong.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.vlmbias.answer_arrays import TASK_MEAN, AnswerRows

WHOLE_TOPIC = "all"
EVERY_SIZE = "all"

_RATES = ("accuracy", "bias_rate", "biased_errors", "bias_share_of_wrong", "change")
_WITHOUT_INTERVAL = {"biased_errors"}
_PUBLISHED = ("benchmark", "originals")
_POOLED = {"original": "all_originals", "counterfactual": "all_counterfactuals"}
_OUTCOMES = ("unparsed", "refused", "failed")
_NUMBERS = {
    "base_images": "int64",
    "requests": "int64",
    "answers": "int64",
    "unanswered": "int64",
    **{
        name: "float64"
        for rate in _RATES
        for name in (rate, f"{rate}_low", f"{rate}_high")
        if name == rate or rate not in _WITHOUT_INTERVAL
    },
    **{f"{outcome}_rate": "float64" for outcome in _OUTCOMES},
}
_COLUMNS = ["model", "prompting", "image_set", "size", "topic", "subtopic", "questions", *_NUMBERS]


def accuracy_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each model × prompting × image set × questions × size × topic × subtopic.

    `answers` has one row per answer, with at least `model`, `prompting`, `image_set`, `variant`,
    `domain` (the topic), `subtopic`, `base_id`, `image_id`, `size` (px), `question_id`,
    `question`, `expected_bias`, `ground_truth`, `answer`, `outcome` and `score` (null if refused
    or failed). Q1 and Q2 are taken together (`QUESTION_GROUPS`).

    `image_set` is one of the table's own, or `all_originals` or `all_counterfactuals`: the images
    of that variant in the sets `benchmark` and `originals` (the paper's Table 4). Images that
    nobody has accepted, or stand-ins, have sets of their own and stand in no others.
    Subtopic `all` is the whole topic, topic `task mean` the mean over topics, size `all` every
    size; parts stand before their whole and keep their order of first appearance. Subtopics are
    separate in the table's own sets, sizes in the variants.

    `base_images` and `answers` count what the accuracy rests on; of all `requests`,
    `unanswered` have no readable answer: unparsed, refused or failed. Rates are between 0 and 1 and
    the change between −1 and 1, with 95 % intervals that take base images, not answers, as
    independent (`metrics.statistics.cluster_intervals`, `metrics.statistics.paired_intervals`),
    the same for the same `seed`.
    """
    rows = AnswerRows.from_frame(answers)
    records = [
        {**_judge_columns(judge), **setting, **part}
        for setting, setting_rows, has_subtopics in _settings(rows)
        for judge, judge_rows in setting_rows.iterate_groups("judge")
        for part in _parts(judge_rows, setting_rows.count("topic"), has_subtopics, seed)
    ]
    return _table(records)


def topic_accuracy_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """The rows of `accuracy_table` for whole topics, at every size, in the table's own sets.

    The others are not resampled, which takes most of the time.
    """
    records = [
        {**_judge_columns(judge), **setting, **_topic_record(topic, topic_rows, seed)}
        for setting, setting_rows in _questions(AnswerRows.from_frame(answers), "image_set")
        for judge, judge_rows in setting_rows.iterate_groups("judge")
        for topic, topic_rows in judge_rows.iterate_groups("topic")
    ]
    return _table(records)


def _table(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(records, columns=_COLUMNS).astype(_NUMBERS)


def _judge_columns(judge: tuple[str, str]) -> dict[str, str]:
    return dict(zip(("model", "prompting"), judge, strict=True))


def _settings(rows: AnswerRows) -> Iterator[tuple[dict[str, str], AnswerRows, bool]]:
    """The columns that a row has besides its judge, its rows, and whether it has subtopics."""
    for setting, setting_rows in _questions(rows, "image_set"):
        yield setting, setting_rows, True
    for setting, setting_rows in _questions(
        rows.select(rows.among("image_set", _PUBLISHED)), "variant"
    ):
        for size, size_rows in setting_rows.iterate_groups("size"):
            yield {**setting, "size": str(size)}, size_rows, False
        yield setting, setting_rows, False


def _questions(rows: AnswerRows, kind: str) -> Iterator[tuple[dict[str, str], AnswerRows]]:
    for image_set, image_rows in rows.iterate_groups(kind):
        for questions, question_rows in image_rows.iterate_groups("questions"):
            size = {"size": EVERY_SIZE}
            name = _POOLED.get(image_set, image_set)
            yield {"image_set": str(name), "questions": str(questions), **size}, question_rows


def _parts(
    rows: AnswerRows, topics: int, has_subtopics: bool, seed: int
) -> Iterator[dict[str, Any]]:
    for topic, topic_rows in rows.iterate_groups("topic"):
        if has_subtopics:
            for subtopic, subtopic_rows in topic_rows.iterate_groups("subtopic"):
                yield {"topic": topic, "subtopic": subtopic, **_summary(subtopic_rows, 1, seed)}
        yield _topic_record(topic, topic_rows, seed)
    yield {"topic": TASK_MEAN, "subtopic": WHOLE_TOPIC, **_summary(rows, topics, seed)}


def _topic_record(topic: str, rows: AnswerRows, seed: int) -> dict[str, Any]:
    return {"topic": topic, "subtopic": WHOLE_TOPIC, **_summary(rows, 1, seed)}


def _summary(rows: AnswerRows, topics: int, seed: int) -> dict[str, float]:
    """The numbers of one row: the mean over its topics, one or more."""
    score, is_answered = rows["score"], ~np.isnan(rows["score"])
    biased_if_tempting = np.where(is_answered & rows["tempting"], rows["biased"], np.nan)
    biased_if_wrong = np.where(score == 0, biased_if_tempting, np.nan)
    answered_topics = len(np.unique(rows["topic"][is_answered]))
    numbers: dict[str, float] = {
        "base_images": len(np.unique(rows["base"][is_answered])),
        "requests": len(rows),
        "answers": int(is_answered.sum()),
        "unanswered": int(sum(rows[name].sum() for name in _OUTCOMES)),
        "biased_errors": rows.mean(
            np.where(is_answered, np.nan_to_num(biased_if_tempting), np.nan), topics
        ),
    }
    for name, interval, column, min_topics in (
        ("accuracy", stratified_interval, score, topics),
        ("bias_rate", stratified_interval, biased_if_tempting, topics),
        (
            "bias_share_of_wrong",
            stratified_interval,
            biased_if_wrong,
            1 if answered_topics >= topics else topics,
        ),
        ("change", paired_interval, score - rows["before"], topics),
    ):
        rate = rows.rate(interval, column, min_topics, seed)
        numbers |= {name: rate.mean, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return numbers | {f"{name}_rate": rows.mean(rows[name], topics) for name in _OUTCOMES}

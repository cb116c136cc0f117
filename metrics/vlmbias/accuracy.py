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
    """One row for each model × prompting × image set × questions × size × topic × subtopic.

    `answers` has one row an answer, with at least `model`, `prompting`, `image_set`, `variant`,
    `domain` (the topic), `subtopic`, `base_id`, `image_id`, `size` (px), `question_id`,
    `question`, `expected_bias`, `ground_truth`, `answer`, `outcome` and `score` (null if refused
    or failed). Q1 and Q2 are taken together (`QUESTION_GROUPS`).

    `image_set` is one of the table's own, or `original` or `counterfactual`: all images of that
    variant in the sets `benchmark` and `originals` (the paper's Table 4). Other sets, of images
    that nobody has accepted or that are stand-ins, stand in rows of their own and in no others.
    Subtopic `all` is the whole topic, topic `task mean` the mean over topics, size `all` every
    size; parts stand before their whole and keep their order of first appearance. Subtopics are
    told apart in the table's own sets, sizes in the variants.

    `base_images` and `answers` count what the accuracy rests on; of all that was `asked`,
    `unanswered` has no readable answer: unparsed, refused or failed. Rates are between 0 and 1 and
    the change between −1 and 1, with 95 % intervals that take base images, not answers, as
    independent (`metrics.statistics.cluster_intervals`, `metrics.statistics.paired_intervals`),
    the same for the same `seed`.
    """
    rows = AnswerRows.of(answers)
    records = [
        {**_asked(judge), **setting, **part}
        for setting, asked, in_detail in _settings(rows)
        for judge, of_judge in asked.iterate_groups("judge")
        for part in _parts(of_judge, asked.count("topic"), in_detail, seed)
    ]
    return _table(records)


def topic_accuracy_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Those rows of `accuracy_table` that are of a whole topic, at every size, in the own sets.

    The others are not resampled, which takes most of the time.
    """
    records = [
        {**_asked(judge), **setting, **_whole(topic, of_topic, seed)}
        for setting, asked in _questions(AnswerRows.of(answers), "image_set")
        for judge, of_judge in asked.iterate_groups("judge")
        for topic, of_topic in of_judge.iterate_groups("topic")
    ]
    return _table(records)


def _table(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(records, columns=_COLUMNS).astype(_NUMBERS)


def _asked(judge: tuple[str, str]) -> dict[str, str]:
    return dict(zip(("model", "prompting"), judge, strict=True))


def _settings(rows: AnswerRows) -> Iterator[tuple[dict[str, str], AnswerRows, bool]]:
    """What a row covers besides its judge, and whether subtopics have rows of their own."""
    for setting, asked in _questions(rows, "image_set"):
        yield setting, asked, True
    for setting, asked in _questions(rows.where(rows.among("image_set", _PUBLISHED)), "variant"):
        for size, of_size in asked.iterate_groups("size"):
            yield {**setting, "size": str(size)}, of_size, False
        yield setting, asked, False


def _questions(rows: AnswerRows, kind: str) -> Iterator[tuple[dict[str, str], AnswerRows]]:
    for image_set, of_set in rows.iterate_groups(kind):
        for questions, asked in of_set.iterate_groups("questions"):
            size = {"size": EVERY_SIZE}
            yield {"image_set": str(image_set), "questions": str(questions), **size}, asked


def _parts(rows: AnswerRows, topics: int, in_detail: bool, seed: int) -> Iterator[dict[str, Any]]:
    for topic, of_topic in rows.iterate_groups("topic"):
        if in_detail:
            for subtopic, of_subtopic in of_topic.iterate_groups("subtopic"):
                yield {"topic": topic, "subtopic": subtopic, **_summary(of_subtopic, 1, seed)}
        yield _whole(topic, of_topic, seed)
    yield {"topic": TASK_MEAN, "subtopic": WHOLE_TOPIC, **_summary(rows, topics, seed)}


def _whole(topic: str, rows: AnswerRows, seed: int) -> dict[str, Any]:
    return {"topic": topic, "subtopic": WHOLE_TOPIC, **_summary(rows, 1, seed)}


def _summary(rows: AnswerRows, topics: int, seed: int) -> dict[str, float]:
    """The numbers of one row: the mean over its topics, one or more."""
    score, given = rows["score"], ~np.isnan(rows["score"])
    tempted = np.where(given & rows["tempting"], rows["biased"], np.nan)
    misled = np.where(score == 0, tempted, np.nan)
    answered = len(np.unique(rows["topic"][given]))
    found: dict[str, float] = {
        "base_images": len(np.unique(rows["base"][given])),
        "requests": len(rows),
        "answers": int(given.sum()),
        "unanswered": int(sum(rows[name].sum() for name in _OUTCOMES)),
        "biased_errors": rows.mean(np.where(given, np.nan_to_num(tempted), np.nan), topics),
    }
    for name, interval, column, at_least in (
        ("accuracy", stratified_interval, score, topics),
        ("bias_rate", stratified_interval, tempted, topics),
        ("bias_share_of_wrong", stratified_interval, misled, 1 if answered >= topics else topics),
        ("change", paired_interval, score - rows["before"], topics),
    ):
        rate = rows.rate(interval, column, at_least, seed)
        found |= {name: rate.mean, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return found | {f"{name}_rate": rows.mean(rows[name], topics) for name in _OUTCOMES}

"""VLMBias's Tables 2 and 3 from the long table of answers: accuracy, bias rate, intervals.

- Accuracy is over the answers that were given: an unparsed one is wrong, a refused or a failed
  one is none and is reported as a rate of all that was asked.
- The bias rate is the share of given answers that are the expected bias, over those questions
  whose expected bias is wrong: where bias and truth are the same (all of the originals, Q3 of
  an original illusion), the right answer says nothing about looking. Without such a question it
  is null. The bias share of wrong is the same over those answers that are wrong.
- The task mean is the mean over topics (the paper's Table 2), each weighing the same; a number
  that one of the topics lacks, or that belongs to a model which has not answered a topic that
  another one has, is null there, except that the bias share is the mean over the
  topics in which some answers are wrong.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.intervals import Interval, stratified_interval

TASK_MEAN = "task mean"
WHOLE_TOPIC = "all"
QUESTION_GROUPS = {"Q1": "Q1 & Q2", "Q2": "Q1 & Q2", "Q3": "Q3"}

_SETTING = ["model", "prompting", "image_set", "questions"]
_NUMBERS = {
    "base_images": "int64",
    "answers": "int64",
    "accuracy": "float64",
    "accuracy_low": "float64",
    "accuracy_high": "float64",
    "bias_rate": "float64",
    "bias_rate_low": "float64",
    "bias_rate_high": "float64",
    "bias_share_of_wrong": "float64",
    "unparsed_rate": "float64",
    "refused_rate": "float64",
    "failed_rate": "float64",
}
_COLUMNS = ["model", "prompting", "image_set", "topic", "subtopic", "questions", *_NUMBERS]

_NOTHING = Interval(float("nan"), float("nan"))


def accuracy_table(answers: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """One row for each model × prompting × image set × questions × topic × subtopic.

    `answers` has one row an answer, with at least `model`, `prompting`, `image_set`, `domain`
    (the topic), `subtopic`, `base_id`, `question_id` (Q1 and Q2 are taken together),
    `expected_bias`, `ground_truth`, `answer`, `outcome` and `score` (null if refused or failed).
    Subtopic `all` is the whole topic, topic `task mean` the mean over topics; both stand after
    their parts, which keep their order of first appearance. `base_images` and `answers` count
    what the accuracy rests on. Rates are between 0 and 1, with 95 % intervals that take base
    images, not answers, as independent (`metrics.intervals`), the same for the same `seed`.
    """
    rows = _with_numbers(answers)
    topics = dict(rows.groupby(["image_set", "questions"])["topic"].nunique().items())
    records = [
        {**dict(zip(_SETTING, setting, strict=True)), **part}
        for setting, group in rows.groupby(_SETTING, sort=False)
        for part in _parts(group, topics[setting[2:]], seed)
    ]
    return pd.DataFrame(records, columns=_COLUMNS).astype(_NUMBERS)


def _with_numbers(answers: pd.DataFrame) -> pd.DataFrame:
    """The columns that the numbers come from, names of topics and base images as codes."""
    biased = answers["answer"].eq(answers["expected_bias"]).fillna(False).astype(bool)
    return pd.DataFrame(
        {
            **{name: answers[name] for name in ("model", "prompting", "image_set", "subtopic")},
            "topic": answers["domain"],
            "questions": answers["question_id"].map(QUESTION_GROUPS),
            "score": answers["score"].astype("float64"),
            "biased": biased,
            "bias_is_wrong": answers["expected_bias"].ne(answers["ground_truth"]).astype(bool),
            **{
                f"{outcome}_rate": answers["outcome"].eq(outcome).astype("float64")
                for outcome in ("unparsed", "refused", "failed")
            },
            "topic_code": pd.factorize(answers["domain"], sort=True)[0],
            "base_code": pd.factorize(answers["base_id"], sort=True)[0],
        }
    )


def _parts(group: pd.DataFrame, topics: int, seed: int) -> Iterator[dict[str, object]]:
    for topic, of_topic in group.groupby("topic", sort=False):
        for subtopic, of_subtopic in of_topic.groupby("subtopic", sort=False):
            yield {"topic": topic, "subtopic": subtopic, **_summary(of_subtopic, 1, seed)}
        yield {"topic": topic, "subtopic": WHOLE_TOPIC, **_summary(of_topic, 1, seed)}
    yield {"topic": TASK_MEAN, "subtopic": WHOLE_TOPIC, **_summary(group, topics, seed)}


def _summary(rows: pd.DataFrame, topics: int, seed: int) -> dict[str, float]:
    """The numbers of one row of the table: a mean over that many topics, be it a single one."""
    given = rows[rows["score"].notna()]
    tempted = given[given["bias_is_wrong"]]
    misled = tempted[tempted["score"] == 0]
    accuracy = _interval_if_all(given, "score", topics, seed)
    bias_rate = _interval_if_all(tempted, "biased", topics, seed)
    return {
        "base_images": given["base_code"].nunique(),
        "answers": len(given),
        "accuracy": _mean_over_topics(given, "score", topics),
        "accuracy_low": accuracy.low,
        "accuracy_high": accuracy.high,
        "bias_rate": _mean_over_topics(tempted, "biased", topics),
        "bias_rate_low": bias_rate.low,
        "bias_rate_high": bias_rate.high,
        "bias_share_of_wrong": _mean_over_topics(misled, "biased", 1),
        **{
            name: _mean_over_topics(rows, name, topics)
            for name in ("unparsed_rate", "refused_rate", "failed_rate")
        },
    }


def _mean_over_topics(rows: pd.DataFrame, column: str, at_least: int) -> float:
    """The mean over the topics of `rows`; null if there are fewer topics than `at_least`."""
    codes = rows["topic_code"].to_numpy()
    counts = np.bincount(codes)
    present = counts > 0
    if present.sum() < at_least:
        return float("nan")
    sums = np.bincount(codes, rows[column].to_numpy(float))
    return float(np.mean(sums[present] / counts[present]))


def _interval_if_all(rows: pd.DataFrame, column: str, topics: int, seed: int) -> Interval:
    strata: NDArray[np.int64] = rows["topic_code"].to_numpy()
    if len(np.unique(strata)) < topics:
        return _NOTHING
    return stratified_interval(
        rows[column].to_numpy(float), rows["base_code"].to_numpy(), strata, seed=seed
    )

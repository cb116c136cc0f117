"""MME's scores of general questions, perception and cognition (arXiv 2306.13394).

Each picture has two yes/no questions, one whose answer is yes and one whose answer is no. The score
of a subtask is 100 times accuracy, over questions, and 100 times accuracy+, the share of pictures
of which both are right: 200 at most. Perception is the sum of ten subtasks, cognition of four.

Replies are read as by the authors' own script (`tools/eval_tool.zip`, branch Evaluation of
github.com/BradyFU/Awesome-Multimodal-Large-Language-Models): `read_mme_answer`. A reply that is
neither yes nor no counts as wrong. A request that failed is unknown (NaN), and so is then every sum
with it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.reply_parsing.reply_text import strip_thinking
from metrics.statistics.cluster_intervals import stratified_interval

PERCEPTION = (
    *("existence", "count", "position", "color", "posters", "celebrity", "scene", "landmark"),
    *("artwork", "OCR"),
)
COGNITION = (
    *("commonsense_reasoning", "numerical_calculation", "text_translation", "code_reasoning"),
)
SUBTASKS: Mapping[str, Sequence[str]] = {"perception": PERCEPTION, "cognition": COGNITION}
_BEST = 200.0
_READ = 4
"""Characters of a reply that decide."""
_NOTHING = float("nan")


class MmeScore(NamedTuple):
    """A sum over subtasks with its interval, by a bootstrap over pictures; NaN with the reason."""

    value: float
    low: float
    high: float
    reason: str = ""


def read_mme_answer(response: str) -> str | None:
    """The yes or no among the first four characters of a reply, after its thinking.

    The authors' script sees lower case and looks for yes first, so that "Not at all" is no, and
    "There is no dog" is neither.

    >>> [read_mme_answer(reply) for reply in ("{Yes}", "Not at all.", "There is no dog.")]
    ['yes', 'no', None]
    """
    beginning = strip_thinking(response).strip().lower()[:_READ]
    return next((answer for answer in ("yes", "no") if answer in beginning), None)


def subtask_score(image: pd.Series, correct: pd.Series) -> float:
    """The score of one subtask, 0 to 200: one row per question, its picture and its correctness.

    NaN where one is unknown.

    >>> subtask_score(pd.Series(["a", "a", "b", "b"]), pd.Series([1.0, 1.0, 1.0, 0.0]))
    125.0
    """
    by_image = _aggregate_by_image(image, correct)
    return float(
        100 * by_image["accuracy"].mean(skipna=False) + 100 * by_image["both"].mean(skipna=False)
    )


def mme_score(answers: pd.DataFrame, kind: str, *, seed: int = 0) -> MmeScore:
    """The sum of a kind, `perception` or `cognition`.

    `answers` has a row per question: `subtask` (MME's name of it, in any case), `image`, and
    `correct`, 1 or 0, NaN where it failed. A sum needs all of its subtasks, and two questions of
    every picture.
    """
    image_tables, total = [], 0.0
    for name in SUBTASKS[kind]:
        subtask_rows = answers[answers["subtask"].str.casefold() == name.casefold()]
        if subtask_rows.empty:
            return _build_unknown(f"{name} has no questions")
        questions = subtask_rows.groupby("image")["correct"].size()
        if odd := int(questions.ne(2).sum()):
            return _build_unknown(
                f"{odd:,} of {len(questions):,} pictures of {name} lack two questions"
            )
        if failed := int(subtask_rows["correct"].isna().sum()):
            return _build_unknown(
                f"{failed:,} of {len(subtask_rows):,} questions of {name} have no answer"
            )
        image_scores = _aggregate_by_image(subtask_rows["image"], subtask_rows["correct"])
        image_tables.append(image_scores.assign(subtask=name))
        total += subtask_score(subtask_rows["image"], subtask_rows["correct"])
    table = pd.concat(image_tables, ignore_index=True)
    score = (table["accuracy"] + table["both"]) / 2
    images = (table["subtask"] + "/" + table["image"].astype(str)).to_numpy(str)
    low, high = stratified_interval(
        score.to_numpy(np.float64), images, table["subtask"].to_numpy(str), seed=seed
    )
    most = _BEST * len(image_tables)
    return MmeScore(value=total, low=most * low, high=most * high)


def _build_unknown(reason: str) -> MmeScore:
    return MmeScore(value=_NOTHING, low=_NOTHING, high=_NOTHING, reason=reason)


def _aggregate_by_image(image: pd.Series, correct: pd.Series) -> pd.DataFrame:
    """Build one row per picture: the share of right answers, and 1 where all are right."""
    table = pd.DataFrame({"image": image.to_numpy(), "correct": correct.to_numpy(np.float64)})
    groups = table.groupby("image", sort=False)["correct"]
    accuracy = groups.agg(lambda values: values.mean(skipna=False))
    is_all_right = accuracy.eq(1.0).astype(float).where(accuracy.notna())
    return pd.DataFrame({"accuracy": accuracy, "both": is_all_right}).reset_index()

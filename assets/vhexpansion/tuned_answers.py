"""Results of a judge on held-out cases and general questions."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from assets.vhexpansion.attack_config import METHODS
from assets.vhexpansion.common import asset_key
from assets.vhexpansion.training import add_base_pictures
from assets.vhexpansion.yes_no_step import NONE
from metrics.statistics.cluster_intervals import stratified_interval
from metrics.statistics.paired_intervals import paired_interval
from metrics.vhexpansion.mme_scores import SUBTASKS, mme_score, read_mme_answer
from metrics.vhexpansion.symmetry import measure_symmetry
from resources.storage.data_root import DataRoot

ATTACKED, ALL = "attacked", "all"
NOT_JUDGED = "it has not been asked yet"
_MAX_LISTED = 3
_READ_COLUMNS = [
    *("case_id", "image_id", "original", "form", "truth", "answer", "correct", "repeat", "outcome"),
    *("perturbation", "encoder", "parameters", "response", "is_stand_in"),
]


class TuningMeasure(NamedTuple):
    """A number with its interval, or the reason why it is missing; `change` is by tuning."""

    measure: str
    dataset: str
    picture_set: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    cases: int = 0
    images: int = 0
    unanswered: int = 0
    reason: str = ""
    is_stand_in: bool = False


def measure_symmetric_accuracy(
    home: DataRoot, dataset: str, cases: pd.DataFrame, judge: str | None, before: str | None
) -> Iterator[TuningMeasure]:
    """Symmetric accuracy of held-out cases: as they were, attacked, and all of these (Table 7)."""
    adapter_answers, base_answers = (
        _load_answers(home, "answers", dataset, cases, name) for name in (judge, before)
    )
    if adapter_answers.empty:
        yield TuningMeasure("symmetric", dataset, ALL, reason=NOT_JUDGED if judge else "")
        return
    for picture_set, perturbations in (
        (NONE, (NONE,)),
        (ATTACKED, METHODS),
        (ALL, (NONE, *METHODS)),
    ):
        shown_answers = adapter_answers[adapter_answers["perturbation"].isin(perturbations)]
        if shown_answers.empty:
            continue
        origin = base_answers[base_answers["perturbation"].isin(perturbations)]
        numbers = measure_symmetry(shown_answers, None if origin.empty else origin)
        columns = [
            f"{name}{end}" for name in ("symmetric", "change") for end in ("", "_low", "_high")
        ]
        value, low, high, change, change_low, change_high = (
            _to_optional(numbers[name]) for name in columns
        )
        yield TuningMeasure(
            *("symmetric", dataset, picture_set, value, low, high, change, change_low, change_high),
            cases=int(numbers["cases"]),
            images=int(numbers["images"]),
            unanswered=int(numbers["unanswered"]),
            reason="no pair was answered" if value is None else "",
            is_stand_in=bool(shown_answers["is_stand_in"].any()),
        )


def measure_general_questions(
    home: DataRoot,
    questions: pd.DataFrame,
    mme: str | None,
    judge: str | None,
    before: str | None,
    trained_on: frozenset[str] = frozenset(),
) -> Iterator[TuningMeasure]:
    """MME's scores, where there is a collection of it; else accuracy of held-out questions.

    `trained_on` are the pictures that the judge's adapter was trained on: MME's are not held out.
    What `clean_answers_<judge>` has of these is counted: questions that are answered by yes or no.
    """
    if mme is not None:
        yield from _measure_mme(home, mme, judge, trained_on)
        return
    for dataset, dataset_questions in questions.groupby("dataset", sort=False):
        yield _accuracy(home, str(dataset), dataset_questions, judge, before)


def _measure_mme(
    home: DataRoot, mme: str, judge: str | None, trained_on: frozenset[str]
) -> Iterator[TuningMeasure]:
    answers = _load_answers(home, "clean_answers", mme, None, judge)
    topics = home.find(asset_key("seed_cases"), mme, ["case_id", "topic"])
    if answers.empty or topics is None:
        for kind in SUBTASKS:
            yield TuningMeasure(kind, mme, reason=NOT_JUDGED if judge else "")
        return
    first_answers = answers[answers["repeat"].eq(0)].merge(
        topics.rename(columns={"case_id": "case"}), on="case", how="left"
    )
    # What is neither yes nor no is wrong, as in the authors' script; what failed is unknown.
    answer = first_answers["response"].fillna("").map(read_mme_answer)
    is_right = answer.eq(first_answers["truth"]).astype(float)
    first_answers = first_answers.assign(
        answer=answer, correct=is_right.where(first_answers["outcome"].ne("failed"))
    )
    mme_rows = pd.DataFrame(
        {
            "subtask": first_answers["topic"].fillna(""),
            "image": first_answers["image_id"],
            "correct": first_answers["correct"],
        }
    )
    for kind in SUBTASKS:
        score = mme_score(mme_rows, kind)
        names = {subtask.casefold() for subtask in SUBTASKS[kind]}
        subtask_answers = first_answers[mme_rows["subtask"].str.casefold().isin(names)]
        if learned := _explain_trained_on(subtask_answers, trained_on):
            yield TuningMeasure(kind, mme, cases=len(subtask_answers), reason=learned)
            continue
        yield TuningMeasure(
            kind,
            mme,
            value=_to_optional(score.value),
            low=_to_optional(score.low),
            high=_to_optional(score.high),
            cases=len(subtask_answers),
            images=subtask_answers["base_id"].nunique(),
            unanswered=int(subtask_answers["answer"].isna().sum()),
            reason=score.reason,
            is_stand_in=bool(subtask_answers["is_stand_in"].any()),
        )


def _explain_trained_on(answers: pd.DataFrame, trained_on: frozenset[str]) -> str:
    """Explain why a sum would include pictures trained on; empty if it would not."""
    pictures = answers.drop_duplicates("image_id")
    trained_pictures = pictures[
        pictures["base_id"].isin(trained_on) | pictures["original"].isin(trained_on)
    ]
    if trained_pictures.empty:
        return ""
    examples = ", ".join(
        [
            *trained_pictures["image_id"].head(_MAX_LISTED),
            *(["…"] if len(trained_pictures) > _MAX_LISTED else []),
        ]
    )
    picture_count = f"{len(trained_pictures):,} of {len(pictures):,}"
    return f"its adapter was trained on {picture_count} pictures: {examples}"


def _accuracy(
    home: DataRoot, dataset: str, questions: pd.DataFrame, judge: str | None, before: str | None
) -> TuningMeasure:
    """Accuracy of the yes/no questions among those that are held out."""
    adapter_answers, base_answers = (
        _load_answers(home, "clean_answers", dataset, questions, name) for name in (judge, before)
    )
    if adapter_answers.empty:
        return TuningMeasure("general", dataset, reason=NOT_JUDGED if judge else "")
    shares_right, base_shares_right = (
        _compute_right_shares(adapter_answers),
        _compute_right_shares(base_answers),
    )
    images = adapter_answers.drop_duplicates("case_id").set_index("case_id")["base_id"][
        shares_right.index
    ]
    measure = TuningMeasure(
        "general",
        dataset,
        cases=len(shares_right),
        images=images.nunique(),
        unanswered=int(adapter_answers["answer"].isna().sum()),
        is_stand_in=bool(adapter_answers["is_stand_in"].any()),
    )
    if shares_right.isna().all():
        return measure._replace(reason="none of them has an answer")
    names, strata = images.to_numpy(str), np.zeros(len(shares_right))
    low, high = stratified_interval(shares_right.to_numpy(), names, strata, seed=0)
    gains = shares_right.to_numpy() - base_shares_right.reindex(shares_right.index).to_numpy(
        np.float64
    )
    measure = measure._replace(value=float(shares_right.mean()), low=low, high=high)
    if np.isnan(gains).all():
        return measure
    interval = paired_interval(gains, names, strata, seed=0)
    return measure._replace(
        change=float(np.nanmean(gains)), change_low=interval.low, change_high=interval.high
    )


def _compute_right_shares(answers: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of right answers of each case, NaN for a case without any."""
    return answers["correct"].astype(float).groupby(answers["case_id"]).mean()


def _load_answers(
    home: DataRoot, asset: str, dataset: str, cases: pd.DataFrame | None, judge: str | None
) -> pd.DataFrame:
    """Load a judge's answers to some cases; each perturbation and setting is a case of its own."""
    table = home.find(asset_key(f"{asset}_{judge}"), dataset, _READ_COLUMNS) if judge else None
    if table is None:
        return pd.DataFrame(columns=[*_READ_COLUMNS, "base_id"])
    if cases is not None:
        table = table[table["case_id"].isin(cases["case_id"])]
    perturbation_keys = (
        table[["perturbation", "encoder", "parameters"]].fillna("").agg("|".join, axis=1)
    )
    case_columns = {"case": table["case_id"], "case_id": table["case_id"] + "|" + perturbation_keys}
    return add_base_pictures(dataset, table).assign(**case_columns).reset_index(drop=True)


def _to_optional(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

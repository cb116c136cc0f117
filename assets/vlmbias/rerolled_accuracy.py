"""Accuracy of judges on new pictures beside that on the set's: has a judge seen the set before?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    MaterializeResult,
)

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, to_materialize_result, to_records
from assets.kit.previews import inline_tables
from assets.kit.table_asset import NotMaterialized
from assets.report.formats import Rate, format_p, format_percent, format_points
from assets.vlmbias.common import GROUP, answers_key, asset_key, rerolled_topics, table_asset
from generators.topics import get_title
from metrics import BASELINE, TASK_MEAN, reroll_table
from metrics.statistics.firmness import Evidence
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

Verdict: TypeAlias = Literal["worse", "no worse", "better", "none"]

REROLLED_ACCURACY = Columns(
    model=(TEXT, "The judge"),
    topic=(TEXT, "Topic, or the mean over topics"),
    seed=(WHOLE, "Seed of the new pictures"),
    released_seed=(WHOLE, "Seed of the set"),
    places=(WHOLE, "Pairs of places, which the interval resamples"),
    scenes=(WHOLE, "Pairs of scenes"),
    questions=(WHOLE, "Pairs of questions"),
    readable=(WHOLE, "Pairs of questions with readable answers on both sides"),
    released=(REAL, "Accuracy on Q1 and Q2 about the set's pictures of the pairs"),
    fresh=(REAL, "Accuracy about the new pictures of the pairs"),
    difference=(REAL, "New less set, over pairs with a score on both sides"),
    low=(REAL, "Lower end of its 95 % interval"),
    high=(REAL, "Upper end of its 95 % interval"),
    least=(REAL, "Smallest difference that missing scores allow for"),
    most=(REAL, "Largest difference that missing scores allow for"),
    p=(REAL, "Sign-flip test of no difference; of the mean alone"),
    p_holm=(REAL, "The same, corrected for all judges (Holm)"),
    verdict=(TEXT, "worse, no worse, better or none; of the mean alone"),
    finding=(TEXT, "The verdict in a sentence"),
)
MIN_PLACES = 10
"""Pairs of places that a verdict needs: of fewer, ten judges' corrected test rejects nothing."""
_LEVEL = 0.05
_SMALL = 0.05
"""Drop in accuracy below which a judge is called no worse."""
_QUESTION = ["image_id", "sha256", "question_id"]
_SCORE = ["score", "outcome"]
_NOT_ASKED = "not asked"


@dataclass(frozen=True, kw_only=True)
class RerollComparison:
    """Pairs of questions with both answers by judge; `caveats` say why some do not compare."""

    pairs: pd.DataFrame
    seeds: tuple[int, int]
    """Of the new pictures, and of the set."""
    caveats: dict[str, str]

    def build_rows(self) -> list[dict[str, Any]]:
        """Build the rows of `REROLLED_ACCURACY`."""
        seeds = dict(zip(("seed", "released_seed"), self.seeds, strict=True))
        table = reroll_table(self.pairs)
        judges = table["model"].nunique()
        return [
            row | seeds | (self._judge(row, judges) if row["topic"] == TASK_MEAN else {})
            for row in to_records(table)
        ]

    def _judge(self, row: dict[str, Any], judges: int) -> dict[str, str]:
        """Build the verdict and finding of a judge's mean over topics."""
        topics = self.pairs.loc[self.pairs["model"].eq(row["model"]), "domain"].unique()
        evidence = Evidence(
            requests=row["questions"],
            answers=row["readable"],
            units=row["places"],
            min_units=MIN_PLACES,
            unit="pairs of places",
            caveat=self.caveats.get(row["model"], ""),
        )
        verdict = _decide(row, evidence)
        titles = [*map(get_title, topics)]
        return {
            "verdict": verdict,
            "finding": _write_finding(row, verdict, evidence, titles, judges),
        }


def load_comparison(home: DataRoot, judges: Sequence[Model]) -> RerollComparison | None:
    """Pair the answers of all judges who have answered about new pictures; None without any."""
    pairs, caveats, seeds = [], dict[str, str](), (0, 0)
    for judge, topic, questions, released, fresh in _iterate_topics(home, judges):
        seeds = int(questions["seed"].iloc[0]), int(questions["released_seed"].iloc[0])
        pairs.append(_pair_answers(questions, released, fresh).assign(model=judge, domain=topic))
        if caveat := _find_caveat(released, fresh):
            caveats[judge] = caveat
    if not pairs:
        return None
    return RerollComparison(pairs=pd.concat(pairs, ignore_index=True), seeds=seeds, caveats=caveats)


def _iterate_topics(
    home: DataRoot, judges: Sequence[Model]
) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame, pd.DataFrame]]:
    """Iterate over judges and topics with the questions, and baseline answers to both sets."""
    for judge in judges:
        for topic in rerolled_topics.get_partition_keys():
            keys = (answers_key(judge.name), asset_key(f"rerolled_answers_{judge.name}"))
            questions = home.find(asset_key("rerolled_questions"), topic)
            released, fresh = (_find_baseline(home, key, topic) for key in keys)
            if questions is not None and released is not None and fresh is not None:
                yield judge.name, topic, questions, released, fresh


def _find_baseline(home: DataRoot, key: AssetKey, topic: str) -> pd.DataFrame | None:
    answers = home.find(key, topic)
    return None if answers is None else answers[answers["prompting"].eq(BASELINE)]


def count_pairs(home: DataRoot, judge: str, topic: str, questions: pd.DataFrame) -> int:
    """Count the new questions of a topic with whose pair a judge was asked."""
    released = _find_baseline(home, answers_key(judge), topic)
    if released is None:
        return 0
    pairs = _pair_answers(questions, released, released.head(0))
    return int(pairs["released_outcome"].ne(_NOT_ASKED).sum())


def _pair_answers(
    questions: pd.DataFrame, released: pd.DataFrame, fresh: pd.DataFrame
) -> pd.DataFrame:
    """Join each new question with the answer to it and to its pair; both may be missing."""
    pairs = questions[[*_QUESTION, "released_id", "released_sha256", "places", "base_id"]]
    pairs = pairs.rename(columns={"base_id": "scene"})
    released_names = {"image_id": "released_id", "sha256": "released_sha256"}
    for side, answers, names in (("fresh", fresh, {}), ("released", released, released_names)):
        side_answers = answers[answers["variant"].eq("counterfactual")][[*_QUESTION, *_SCORE]]
        columns = names | {name: f"{side}_{name}" for name in _SCORE}
        keys = [names.get(name, name) for name in _QUESTION]
        pairs = pairs.merge(side_answers.rename(columns=columns), "left", on=keys, validate="1:1")
        pairs[f"{side}_outcome"] = pairs[f"{side}_outcome"].fillna(_NOT_ASKED)
    return pairs


def _find_caveat(released: pd.DataFrame, fresh: pd.DataFrame) -> str:
    """Say that both sets were not answered by the same model; empty where they were."""
    entries, models = (
        [set(table[name].dropna()) for table in (released, fresh)]
        for name in ("entry_version", "served_model")
    )
    if entries[0] != entries[1]:
        return "its entry in models.yaml has changed between the two sets"
    if models[0] != models[1]:
        names = " and ".join(", ".join(sorted(side)) or "an unnamed model" for side in models)
        return f"the provider served other models for the two sets: {names}"
    return ""


def _decide(row: dict[str, Any], evidence: Evidence) -> Verdict:
    """Decide by the corrected test and the interval; a trial or less gets no verdict."""
    if evidence.firmness != "result":
        return "none"
    is_different = row["p_holm"] <= _LEVEL
    if is_different and row["high"] < 0:
        return "worse"
    return "better" if is_different and row["low"] > 0 else "no worse"


def _write_finding(
    row: dict[str, Any], verdict: Verdict, evidence: Evidence, topics: Sequence[str], judges: int
) -> str:
    model = row["model"]
    if verdict == "none":
        return f"{model}: no verdict, {'; '.join(evidence.reasons)}."
    points = f"{format_points(Rate(row['difference'], row['low'], row['high']))} points"
    if judges > 1:
        points += f", {format_p(row['p_holm'])} corrected for {judges} judges"
    pictures = " and ".join(title[:1].lower() + title[1:] for title in topics)
    if verdict == "worse":
        return (
            f"{model} does worse on new pictures of {pictures} ({points}): as if it had seen the "
            "set's."
        )
    if verdict == "better":
        return f"{model} does better on new pictures of {pictures} ({points}): no sign of memory."
    if row["low"] > -_SMALL:
        return f"{model} is no worse on new pictures of {pictures} ({points})."
    return (
        f"{model} is not shown to be worse on new pictures of {pictures} ({points}); a drop of up "
        f"to {format_percent(-row['low'])} is possible."
    )


def build_rerolled_accuracy_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `rerolled_accuracy` of these judges."""

    @table_asset(
        partitions=None,
        columns=REROLLED_ACCURACY,
        deps=[
            AssetKey([GROUP, "rerolled_questions"]),
            *(asset_key(f"rerolled_answers_{judge.name}") for judge in judges),
        ],
        description=(
            "Accuracy of judges on pictures drawn anew, paired with that on the set's: whether a "
            "judge does worse on what it cannot have seen."
        ),
    )
    def rerolled_accuracy(
        context: AssetExecutionContext, home: DataRoot
    ) -> MaterializeResult[pa.Table]:
        """Compare all judges who have answered about new pictures."""
        comparison = load_comparison(home, judges)
        if comparison is None:
            raise NotMaterialized(
                "No judge has answered about new pictures yet: run "
                "`counterfactory reroll vlmbias --seed 7`."
            )
        rows = comparison.build_rows()
        shown = pd.DataFrame(rows)[["model", "topic", "released", "fresh", "difference", "verdict"]]
        return to_materialize_result(
            REROLLED_ACCURACY.build_table(rows),
            judges=int(shown["model"].nunique()),
            **inline_tables("differences", shown.round(3), "model", "topic"),
        )

    return rerolled_accuracy

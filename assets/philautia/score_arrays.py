"""The scores of a dataset as one array: by picture, who wrote the caption, and who scored it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from assets.philautia.common import asset_key, find_twins
from assets.report.formats import format_whole_percent
from generators.prompts.captioning import SCALE
from metrics.philautia.caption_scores import CaptionScores, Values
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

SCORE_COLUMNS = ["image_id", "generator", "setting", "score", "is_stand_in"]
"""The columns that are read: responses of many judges are larger than memory."""
_MOST_AT_ENDS = 0.05
"""Share of scores at an end; at 13 %, intervals held a true 8 in 70 % of simulated matrices."""
PEOPLE_COLUMNS = ["candidate", "human_scores"]
"""Columns of captions that people have scored."""


class SettingScores(NamedTuple):
    """Judges' scores of captions in one setting."""

    setting: str
    scores: CaptionScores | None
    """Score matrices; None if nothing was scored."""
    images: Sequence[str]
    """Their pictures."""
    request_counts: pd.DataFrame
    """Number of captions asked about, by generator (rows) and evaluator (columns)."""
    is_stand_in: bool
    problems: Sequence[str]
    """Sentences on what was left out."""


class HumanRatings(NamedTuple):
    """Ratings by people, one per person and caption, and what judges gave the same captions."""

    scores: pd.DataFrame
    """A column for each judge and metric; NaN where it gave no score."""
    human: "pd.Series[float]"
    images: "pd.Series[str]"
    is_stand_in: bool

    def split(self, pictures: Collection[str]) -> tuple["HumanRatings", "HumanRatings"]:
        """The ratings of captions of these pictures, and those of all others."""
        inside = self.images.isin(pictures)
        parts = (
            self._replace(
                scores=self.scores[mask], human=self.human[mask], images=self.images[mask]
            )
            for mask in (inside, ~inside)
        )
        return next(parts), next(parts)


def unique_models(models: Sequence[Model]) -> list[Model]:
    """The models that a matrix has: each once, whatever names it has."""
    return [model for model in models if model.name not in find_twins(models)]


def load_score_tables(
    home: DataRoot, dataset: str, evaluators: Iterable[Model], columns: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Load the existing scores by judge."""
    named_tables = (
        (evaluator.name, home.find(asset_key(f"scores_{evaluator.name}"), dataset, list(columns)))
        for evaluator in evaluators
    )
    return {name: table for name, table in named_tables if table is not None and len(table)}


def gather_scores(
    tables: Mapping[str, pd.DataFrame],
    setting: str,
    generators: Sequence[Model],
    evaluators: Sequence[Model],
) -> SettingScores:
    """The scores of models' captions in a setting, of all pictures that a judge was asked about.

    Stand-in models know how good each other's captions are: beside real models they are left out.
    """
    writers = [model.name for model in unique_models(generators)]
    judges = {model.name for model in unique_models(evaluators)}
    score_tables = {
        name: table[table["setting"].eq(setting) & table["generator"].isin(writers)]
        for name, table in tables.items()
        if name in judges
    }
    score_tables = _drop_references(
        {name: t for name, t in score_tables.items() if len(t)}, evaluators
    )
    if not score_tables:
        return SettingScores(
            setting=setting,
            scores=None,
            images=[],
            request_counts=pd.DataFrame(),
            is_stand_in=False,
            problems=(),
        )
    images = pd.Index(pd.unique(pd.concat([table["image_id"] for table in score_tables.values()])))
    scored_writers = {
        name for table in score_tables.values() for name in table["generator"].unique()
    }
    names = pd.Index([name for name in writers if name in scored_writers])
    values = np.full((len(images), len(names), len(score_tables)), np.nan)
    request_counts = pd.DataFrame(0, names, list(score_tables))
    for column, (name, table) in enumerate(score_tables.items()):
        rows = images.get_indexer(pd.Index(table["image_id"]))
        writer_indices = names.get_indexer(pd.Index(table["generator"]))
        values[rows, writer_indices, column] = table["score"].astype(float)
        request_counts[name] = table["generator"].value_counts().reindex(names, fill_value=0)
    families = {model.name: model.family for model in (*generators, *evaluators)}
    return SettingScores(
        setting=setting,
        scores=CaptionScores.from_arrays(values, list(names), list(score_tables), families),
        images=list(images),
        request_counts=request_counts,
        is_stand_in=any(bool(table["is_stand_in"].any()) for table in score_tables.values()),
        problems=[*_list_left_out(generators, evaluators), *_cut_off(values, list(score_tables))],
    )


def gather_ratings(
    tables: Mapping[str, pd.DataFrame], setting: str, evaluators: Sequence[Model]
) -> HumanRatings:
    """Gather judges' and metrics' scores of the captions that people have scored, in a setting."""
    score_tables = {
        name: table[table["setting"].eq(setting) & table["candidate"].notna()]
        for name, table in tables.items()
    }
    score_tables = _drop_references(
        {name: t for name, t in score_tables.items() if len(t)}, evaluators
    )
    if not score_tables:
        none = pd.Series(dtype=float)
        return HumanRatings(pd.DataFrame(), none, pd.Series(dtype=str), is_stand_in=False)
    by = ["image_id", "candidate"]
    ratings = pd.concat([table[[*by, "human_scores"]] for table in score_tables.values()])
    people = ratings.drop_duplicates(by).explode("human_scores", ignore_index=True)
    index = pd.MultiIndex.from_frame(people[by])
    scores = {
        name: table.set_index(by)["score"].astype(float).reindex(index).to_numpy()
        for name, table in score_tables.items()
    }
    return HumanRatings(
        pd.DataFrame(scores),
        people["human_scores"].astype(float),
        people["image_id"],
        is_stand_in=any(bool(table["is_stand_in"].any()) for table in score_tables.values()),
    )


def _drop_references(
    score_tables: dict[str, pd.DataFrame], evaluators: Sequence[Model]
) -> dict[str, pd.DataFrame]:
    real = {model.name for model in evaluators if not model.is_stand_in}
    real_tables = {name: table for name, table in score_tables.items() if name in real}
    return real_tables or score_tables


def _cut_off(values: Values, judges: Sequence[str]) -> Iterator[str]:
    """Sentences on judges that use the ends of the scale, where a preference is cut off."""
    at_ends = np.where(np.isnan(values), np.nan, np.isin(values, SCALE))
    for judge, column in zip(judges, np.moveaxis(at_ends, -1, 0), strict=True):
        scored = column[~np.isnan(column)]
        if len(scored) and scored.mean() > _MOST_AT_ENDS:
            yield (
                f"{judge}: {format_whole_percent(scored.mean())} of its scores are {SCALE[0]} or "
                f"{SCALE[1]}. A preference beyond the ends of the scale is cut off, so that it "
                "comes out too small, and its interval too narrow."
            )


def _list_left_out(generators: Sequence[Model], evaluators: Sequence[Model]) -> list[str]:
    twins = find_twins(generators) | find_twins(evaluators)
    return [
        f"{name} is the same model as {first}, asked otherwise: it is left out, for as two it "
        "would be a stranger to itself."
        for name, first in twins.items()
    ]

"""The scores of a dataset as one array: by picture, who wrote the caption, and who scored it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from assets.philautia.common import key, twins
from metrics.caption_scores import CaptionScores
from resources.home import Home
from resources.models.catalog import Model

READ = ["image_id", "generator", "setting", "score", "rehearsal"]
"""The columns that are read: responses of many judges are larger than memory."""


class Gathered(NamedTuple):
    """What judges gave captions in one setting."""

    setting: str
    scores: CaptionScores | None
    """None where nothing was scored."""
    asked: pd.DataFrame
    """By generator (rows) and evaluator: how many captions were asked about."""
    rehearsal: bool
    problems: Sequence[str]
    """What was left out, in sentences."""


def counted(models: Sequence[Model]) -> list[Model]:
    """The models that a matrix has: each once, whatever names it has."""
    return [model for model in models if model.name not in twins(models)]


def score_tables(
    home: Home, dataset: str, evaluators: Iterable[Model], columns: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """By judge, the scores that there are."""
    found = {
        each.name: home.find(key(f"scores_{each.name}"), dataset, list(columns))
        for each in evaluators
    }
    return {name: table for name, table in found.items() if table is not None and len(table)}


def gathered(
    tables: Mapping[str, pd.DataFrame],
    setting: str,
    generators: Sequence[Model],
    evaluators: Sequence[Model],
) -> Gathered:
    """The scores of models' captions in a setting, of all pictures that a judge was asked about.

    Reference models know how good each other's captions are: beside real models they are left out.
    """
    writers = [model.name for model in counted(generators)]
    held = {
        name: table[table["setting"].eq(setting) & table["generator"].isin(writers)]
        for name, table in tables.items()
    }
    held = _without_references({name: t for name, t in held.items() if len(t)}, evaluators)
    if not held:
        return Gathered(setting, None, pd.DataFrame(), rehearsal=False, problems=())
    images = pd.Index(pd.unique(pd.concat([table["image_id"] for table in held.values()])))
    there = {name for table in held.values() for name in table["generator"].unique()}
    names = pd.Index([name for name in writers if name in there])
    values = np.full((len(images), len(names), len(held)), np.nan)
    asked = pd.DataFrame(0, names, list(held))
    for column, (name, table) in enumerate(held.items()):
        rows, of = images.get_indexer(table["image_id"]), names.get_indexer(table["generator"])
        values[rows, of, column] = table["score"].astype(float)
        asked[name] = table["generator"].value_counts().reindex(names, fill_value=0)
    families = {model.name: model.family for model in (*generators, *evaluators)}
    return Gathered(
        setting,
        CaptionScores.of(values, list(names), list(held), families),
        asked,
        rehearsal=any(bool(table["rehearsal"].any()) for table in held.values()),
        problems=[*_left_out(generators, evaluators)],
    )


def _without_references(
    held: dict[str, pd.DataFrame], evaluators: Sequence[Model]
) -> dict[str, pd.DataFrame]:
    real = {model.name for model in evaluators if not model.rehearses}
    some = {name: table for name, table in held.items() if name in real}
    return some or held


def _left_out(generators: Sequence[Model], evaluators: Sequence[Model]) -> list[str]:
    found = twins(generators) | twins(evaluators)
    return [
        f"{name} is the same model as {first}, asked otherwise: it is left out, for as two it "
        "would be a stranger to itself."
        for name, first in found.items()
    ]

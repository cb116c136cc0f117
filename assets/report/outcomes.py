"""The models that replied, as their providers name them."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from assets.report.cells import Cell, Line, Table, number_cell


class Served(NamedTuple):
    """The models that replied under one name of ours, as the provider named them, and how often.

    A reply that names none is under an empty name.
    """

    name: str
    replies: Sequence[tuple[str, int]]

    @property
    def mixed(self) -> int:
        """Number of models that replied, if the figures mix several; else 0."""
        named = sum(1 for name, _ in self.replies if name)
        return named if named > 1 else 0


def served(replies: pd.DataFrame) -> list[Served]:
    """Count the models that replied, the most frequent first.

    `replies` are rows with the columns `name`, `outcome` and `served_model`.
    """
    replied = replies[replies["outcome"].ne("failed")]
    names = replied["served_model"].fillna("").groupby(replied["name"])
    return [
        Served(
            str(name),
            [
                (str(model_name), replies)
                for model_name, replies in served_models.value_counts().items()
            ],
        )
        for name, served_models in names
    ]


def served_table(corner: str, served_names: Sequence[Served]) -> Table:
    """Tabulate the models that replied, a line per name."""
    lines = [
        Line(
            served.name,
            [Cell(name, note="" if name else "not named"), number_cell(replies)],
            f"{served.mixed} models" if served.mixed else "",
        )
        for served in served_names
        for name, replies in served.replies
    ]
    return Table.plain("Models that replied", corner, ("Named by the provider", "Replies"), lines)

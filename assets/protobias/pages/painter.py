"""The tables of one painter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from assets.protobias.pages.figures import EVALUATED, HUMAN, Board
from generators.prompts.concepts import DOMAINS


@dataclass(frozen=True)
class Painted:
    """A painter's summary, pairs, scores and human scores, in the columns of those assets.

    `pairs` has the columns of `filtered_pairs`, which are empty for what is not filtered yet.
    `scores` is what `assets.protobias.score_table.all_scores` gives and `retention` what
    `assets.protobias.retention.retention` does; `human` is empty where people have scored nothing.
    `missing` says in words what is not there, and `samples` what the results of each domain rest
    on; those of a `trial` are too few or partial to be ranked. `partial` says of metrics that were
    asked about a part of the evaluated pairs how many these are.
    """

    name: str
    stand_in: bool
    summary: pd.DataFrame
    pairs: pd.DataFrame
    scores: pd.DataFrame
    human: pd.DataFrame
    retention: pd.DataFrame
    missing: Sequence[str] = ()
    trial: bool = False
    samples: Sequence[str] = ()
    partial: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def board(self) -> Board:
        """What was evaluated."""
        return Board.of(self.summary, EVALUATED, self.partial)

    @property
    def evaluated(self) -> int:
        """How many pairs are evaluated."""
        return sum(self.board.pairs((domain, "all", "all")) for domain in self.board.domains)

    @cached_property
    def humans(self) -> Board:
        """The same on the pairs that people scored as well."""
        return Board.of(self.summary, HUMAN)

    @property
    def by_people(self) -> bool:
        """Whether people have scored any pair on both sides."""
        return any(metric.name == HUMAN for metric in self.humans.metrics)

    @property
    def domains(self) -> list[str]:
        """The domains of which there are pairs."""
        held = set(self.pairs["domain"])
        return [domain for domain in DOMAINS if domain in held]

    @property
    def page(self) -> str:
        """Where its tables lie in the site."""
        return f"painter-{self.name}.html"

    @property
    def gallery(self) -> str:
        """Where its pairs lie in the site."""
        return f"pairs-{self.name}.html"

"""Mitigation: whether other prompts make a judge less easily moved (FRAME, Table 5)."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from assets.frame.biases import NONE
from assets.frame.scores import Scores, Scoring, Templates
from assets.frame.search import CHOICES, best_of, hinges, of_originals, searched_inputs
from assets.kit.step import PENDING, Extent, Row, Work
from generators.prompts.judging_templates import TEMPLATES
from resources.models.catalog import Catalog, Model


class Wording(Scoring):
    """Which templates are tried; a limit is on pictures before their biases."""

    templates: Templates = Field(
        default=list(TEMPLATES), min_length=1, description=f"Some of {', '.join(TEMPLATES)}."
    )


class Mitigation(Scores):
    """What one judge gives by each template, at the best configuration of each bias."""

    config = Wording
    named = "mitigation"
    is_automatic = False

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = searched_inputs(judge)
        self.description = (
            f"What {judge.name} gives by the standard, bias-aware, bias-definition and "
            "chain-of-thought templates, at its best configuration of each bias (§6, Table 5)."
        )

    def each_row(self, work: Work[Scoring]) -> Iterator[dict[str, Any]]:
        """The pictures as they were, and those with the best configurations, chosen either way."""
        search = work.rows("search")
        best = {each for choice in CHOICES for each in best_of(search, choice).values()}
        for row in super().each_row(work):
            if row["bias"] == NONE or row["parameters"] in best:
                yield row | ({"outcome": PENDING} if hinges(row, search) else {})

    def extent(self, work: Work[Scoring], rows: Sequence[Row]) -> Extent:
        """Of all pictures as they were."""
        return of_originals(work, rows)

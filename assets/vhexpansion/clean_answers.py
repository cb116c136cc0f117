"""Clean answers: what a judge says to the cases themselves, before anything is done to them."""

from collections.abc import Iterator, Sequence
from typing import Any

from assets.kit.step import Extent, Input, Row, Work
from assets.vhexpansion.asking import Asking, Picture, Repeated
from assets.vhexpansion.common import key, limited
from assets.vhexpansion.seed_cases import SEED_CASES
from metrics.symmetry import ORIGINAL
from resources.models.catalog import Catalog, Model


class CleanAnswers(Asking):
    """What one judge says to the cases themselves: which of them trigger a hallucination."""

    named, config = "clean_answers", Repeated

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {"cases": Input(key("seed_cases"), read_by=SEED_CASES, by_default=True)}
        self.description = (
            f"What {judge.name} says to each case as it stands: which of them trigger a "
            "hallucination already, by which attacks take their direction (§3.2)."
        )

    def each_row(self, work: Work[Repeated]) -> Iterator[dict[str, Any]]:
        """Each case that was taken, so many times."""
        for case in limited(work.rows("cases"), "taken", work.config.limit):
            yield from self.asked(case, Picture(case["sha256"]), (ORIGINAL,), work.config.repeats)

    def extent(self, work: Work[Repeated], rows: Sequence[Row]) -> Extent:
        """Of all cases that were taken."""
        there = work.tables["cases"]["outcome"].eq("taken").sum()
        return Extent(len({row["case_id"] for row in rows}), int(there), "cases")

"""Painters together: results, trials and stand-in runs, and differences between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from assets.protobias.pages import differences
from assets.protobias.pages.figures import SummarisedPainter
from assets.report.cells import Table


@dataclass(frozen=True)
class Painters:
    """The painters as they were noticed, the newest last.

    `prompts` are the tables of triplets by domain, and `missing` are sentences on absent painters.
    """

    painters: Sequence[SummarisedPainter]
    prompts: Mapping[str, pd.DataFrame]
    missing: Sequence[str]

    @property
    def results(self) -> list[SummarisedPainter]:
        """The painters of real pictures, enough of them to be ranked."""
        return [painted for painted in self.painters if painted.firmness == "result"]

    @property
    def trials(self) -> list[SummarisedPainter]:
        """The painters of real pictures of which no metric has a result."""
        return [painted for painted in self.painters if painted.trial]

    @property
    def stand_ins(self) -> list[SummarisedPainter]:
        """The painters of schematics."""
        return [painted for painted in self.painters if painted.is_stand_in]

    @property
    def evaluated(self) -> int:
        """Number of evaluated pairs of real pictures."""
        return sum(painted.evaluated for painted in self.results)

    @property
    def models(self) -> int:
        """Number of metrics and judges but for references."""
        metrics = (metric for painted in self.painters for metric in painted.board.metrics)
        return len({metric.name for metric in metrics if metric.group == "Metrics and judges"})

    def earlier(self, painted: SummarisedPainter) -> list[SummarisedPainter]:
        """The painters before this one, real ones beside real ones alone."""
        if painted.trial:
            return []
        alike = self.stand_ins if painted.is_stand_in else self.results
        return alike[: alike.index(painted)]

    @property
    def newest(self) -> SummarisedPainter:
        """The painter of real pictures that was noticed last."""
        return self.results[-1]

    @cached_property
    def changes(self) -> Table | None:
        """Changes with the newest painter, against each earlier one; None without any."""
        if len(self.results) < 2:
            return None
        return differences.overall(self.compared[False], self.newest, self.earlier(self.newest))

    @cached_property
    def compared(self) -> dict[bool, pd.DataFrame]:
        """The differences between painters, those of stand-in runs under True."""
        kinds = {False: self.results, True: self.stand_ins}
        return {
            kind: differences.between_painters(painters)
            for kind, painters in kinds.items()
            if len(painters) > 1
        }

    def compare_with_earlier(self, painted: SummarisedPainter) -> list[Table]:
        """Compare a painter with each earlier one, by domain."""
        return [
            differences.changes(self.compared[painted.is_stand_in], painted, other)
            for other in self.earlier(painted)
        ]

"""Mitigation: whether other prompts make a judge less easily moved (FRAME, Table 5)."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from assets.frame.biases import NONE
from assets.frame.common import asset_key, by_source
from assets.frame.scores import FrameScores, FrameScoresConfig, Templates
from assets.frame.search import CHOICES, count_originals, is_undecided, search_inputs, select_best
from assets.kit.forecast import PENDING
from assets.kit.step import Extent, StepAsset
from assets.kit.step_run import Row, StepRun
from generators.prompts.judging_templates import TEMPLATES
from resources.models.catalog import Catalog, Model


class MitigationConfig(FrameScoresConfig):
    """Templates to try; a limit counts pictures before their biases."""

    templates: Templates = Field(
        default=list(TEMPLATES),
        min_length=1,
        description=f"Templates to score with: any of {', '.join(TEMPLATES)}.",
    )


class MitigationScores(FrameScores):
    """A judge's scores with each template, at the best configuration of each bias."""

    config = MitigationConfig
    asset = StepAsset(
        key=asset_key("mitigation"),
        description=(
            "Scores by {name} with the standard, bias-aware, bias-definition and chain-of-thought "
            "templates, at its best configuration of each bias (§6, Table 5)."
        ),
        partitions_def=by_source,
        is_automatic=False,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = search_inputs(judge)

    def rows(self, work: StepRun[FrameScoresConfig]) -> Iterator[dict[str, Any]]:
        """The pictures as they were, and those with the best configurations, chosen either way."""
        search = work.read_rows("search")
        best = {
            parameters for choice in CHOICES for parameters in select_best(search, choice).values()
        }
        for row in super().rows(work):
            if row["bias"] == NONE or row["parameters"] in best:
                yield row | ({"outcome": PENDING} if is_undecided(row, search) else {})

    def extent(self, work: StepRun[FrameScoresConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all original pictures."""
        return count_originals(work, rows)

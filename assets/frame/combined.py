"""Combined: pairs and triples of biases, each at its best configuration (FRAME, Table 6)."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from pydantic import Field, field_validator

from assets.frame.biased_images import BiasSelectionConfig
from assets.frame.common import asset_key, by_source
from assets.frame.perturbed_scores import PerturbedScores
from assets.frame.scores import SCORES
from assets.frame.search import CHOICES, is_undecided, search_inputs, select_best
from assets.kit.forecast import PENDING
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from generators.perturbations.grids import GRID, order_perturbations
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import from_json, to_json
from resources.models.catalog import Catalog, Model


class CombinedConfig(BiasSelectionConfig):
    """Combinations to try; a limit counts pictures before they have them."""

    sizes: list[int] = Field(
        default=[2, 3],
        min_length=1,
        description="Numbers of biases to combine; the paper has 2 and 3.",
    )

    @field_validator("sizes")
    @classmethod
    def _require_known_sizes(cls, sizes: list[int]) -> list[int]:
        for size in sizes:
            if not 2 <= size <= len(GRID):
                raise ValueError(f"sizes: no {size}. Combine 2 to {len(GRID)} biases.")
        return sizes


class CombinedScores(PerturbedScores[CombinedConfig]):
    """A judge's scores of pictures with several biases; code makes the missing pictures."""

    config = CombinedConfig
    asset = StepAsset(
        key=asset_key("combined"),
        description=(
            "Scores by {name} of pictures with pairs and triples of biases, each at its best "
            "configuration, applied in a fixed order (§6, Table 6)."
        ),
        partitions_def=by_source,
        is_automatic=False,
    )
    table = StepTable(
        columns=SCORES,
        key_columns=("image_id", "parameters"),
        has_portions=True,
        unstored_keys=PerturbedScores.unstored_keys,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = search_inputs(judge)

    def rows(self, work: StepRun[CombinedConfig]) -> Iterator[dict[str, Any]]:
        """Yield each original picture with all its combinations."""
        search = work.read_rows("search")
        combined = chain(
            *(_iterate_combinations(search, choice, work.config) for choice in CHOICES)
        )
        # Where both choices are the same configuration, nothing is asked twice.
        tried = {to_json(perturbations): perturbations for perturbations in combined}
        for row in self.build_rows(work, [(), *tried.values()]):
            yield row | ({"outcome": PENDING} if is_undecided(row, search) else {})


def _iterate_combinations(
    search: Sequence[Row], choice: str, config: CombinedConfig
) -> Iterator[tuple[Perturbation, ...]]:
    best = [
        from_json(parameters)
        for bias, parameters in select_best(search, choice).items()
        if not config.biases or bias in config.biases
    ]
    for size in config.sizes:
        for members in combinations(best, size):
            yield order_perturbations(chain(*members))

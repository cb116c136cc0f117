"""Combined: pairs and triples of biases, each at its best configuration (FRAME, Table 6)."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from pydantic import Field, field_validator

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS, BiasSelectionConfig
from assets.frame.biases import DONE, NONE, build_biased_row, to_perturbation_requests
from assets.frame.common import asset_key, by_source
from assets.frame.readability import add_readability
from assets.frame.references import STAND_IN_ANSWERS
from assets.frame.scores import (
    READ_RESPONSES_REMEDY,
    SCORES,
    build_request,
    list_original_names,
    parse_reply,
    to_score_row,
)
from assets.frame.search import CHOICES, count_originals, is_undecided, search_inputs, select_best
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256
from assets.kit.judging import JudgeStep
from assets.kit.perturbed_pictures import find_perturbed_pictures, make_perturbed_pictures
from assets.kit.step import PORTION, Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from generators.perturbations.grids import GRID, order_perturbations
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import from_json, to_json
from generators.prompts.judging_templates import STANDARD
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest
from resources.storage.chunks import split_into_chunks


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


class CombinedScores(JudgeStep[CombinedConfig]):
    """A judge's scores of pictures with several biases; code makes the missing pictures."""

    config, stand_in_answers, example_request = CombinedConfig, STAND_IN_ANSWERS, LookRequest(())
    unparsed_check = ("bias", READ_RESPONSES_REMEDY)
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
        unstored_keys=BIASED_IMAGE_COLUMNS.columns,
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
        tried = [
            (),
            *{to_json(perturbations): perturbations for perturbations in combined}.values(),
        ]
        names = list_original_names(work, work.config.limit)
        rows = (
            build_biased_row(image, perturbations)
            for image in work.iterate_rows("biased_images")
            if image["bias"] == NONE and image["image_id"] in names
            for perturbations in tried
        )

        def to_known_rows(chunk: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                to_score_row(row, STANDARD, self)
                | ({"outcome": PENDING} if is_undecided(row, search) else {})
                for row in find_perturbed_pictures(
                    chunk, to_perturbation_requests(chunk), DONE, work.images, work.work_cache
                )
            ]

        return chain.from_iterable(map(to_known_rows, split_into_chunks(rows, PORTION)))

    def prepare(
        self, work: StepRun[CombinedConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        finished_rows, number = make_perturbed_pictures(
            rows, to_perturbation_requests(rows), DONE, work.images, work.work_cache
        )
        work.log.info("made %d of %d combinations", number, len(finished_rows))
        return add_readability(finished_rows, work.images, work.work_cache)

    def converse(self, work: StepRun[CombinedConfig], row: Row) -> Conversation:
        """Have the picture scored; one that cannot have the combination is not asked about."""
        if row["outcome"] == "inapplicable":
            return {}
        return (yield from super().converse(work, row))

    def query(self, work: StepRun[CombinedConfig], row: Row) -> Conversation:
        """Have the picture scored by the original instruction."""
        digest = row["sha256"] or PLACEHOLDER_SHA256
        return parse_reply((yield build_request(STANDARD, row["instruction"] or "", digest)))

    def extent(self, work: StepRun[CombinedConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all original pictures."""
        return count_originals(work, rows)


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

"""Steps that perturb pictures beyond `frame/biased_images`, and have a judge score them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.frame.biases import DONE, NONE, build_biased_row, to_perturbation_requests
from assets.frame.readability import add_readability
from assets.frame.references import STAND_IN_ANSWERS
from assets.frame.scores import (
    READ_RESPONSES_REMEDY,
    build_request,
    list_original_names,
    parse_reply,
    to_score_row,
)
from assets.frame.search import count_originals
from assets.kit.forecast import PLACEHOLDER_SHA256
from assets.kit.judging import JudgeStep
from assets.kit.limits import LimitConfig
from assets.kit.perturbed_pictures import find_perturbed_pictures, make_perturbed_pictures
from assets.kit.step import PORTION, Conversation, Extent
from assets.kit.step_run import Row, StepRun
from generators.perturbations.perturbation import Perturbation
from generators.prompts.judging_templates import STANDARD
from resources.models.requests import LookRequest
from resources.storage.chunks import split_into_chunks

ConfigT = TypeVar("ConfigT", bound=LimitConfig)


class PerturbedScores(JudgeStep[ConfigT]):
    """A judge's scores of originals and of pictures that the step makes of them by code."""

    stand_in_answers, example_request = STAND_IN_ANSWERS, LookRequest(())
    unparsed_check = ("bias", READ_RESPONSES_REMEDY)
    unstored_keys = BIASED_IMAGE_COLUMNS.columns

    def build_rows(
        self, work: StepRun[ConfigT], sequences: Iterable[Sequence[Perturbation]]
    ) -> Iterator[dict[str, Any]]:
        """Yield each original with every sequence of perturbations, and the pictures that exist."""
        names = list_original_names(work, work.config.limit)
        tried = [*sequences]
        rows = (
            build_biased_row(image, perturbations)
            for image in work.iterate_rows("biased_images")
            if image["bias"] == NONE and image["image_id"] in names
            for perturbations in tried
        )

        def restore(chunk: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                to_score_row(row, STANDARD, self)
                for row in find_perturbed_pictures(
                    chunk, to_perturbation_requests(chunk), DONE, work.images, work.work_cache
                )
            ]

        return chain.from_iterable(map(restore, split_into_chunks(rows, PORTION)))

    def prepare(
        self, work: StepRun[ConfigT], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        finished_rows, number = make_perturbed_pictures(
            rows, to_perturbation_requests(rows), DONE, work.images, work.work_cache
        )
        work.log.info("made %d of %d pictures", number, len(finished_rows))
        return add_readability(finished_rows, work.images, work.work_cache)

    def converse(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Have the picture scored; one that cannot be perturbed so is not asked about."""
        if row["outcome"] == "inapplicable":
            return {}
        return (yield from super().converse(work, row))

    def query(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Have the picture scored by the original instruction."""
        digest = row["sha256"] or PLACEHOLDER_SHA256
        request = build_request(STANDARD, row["instruction"] or "", digest, row.get("sample", 0))
        return parse_reply((yield request))

    def extent(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Extent:
        """Return the extent among all original pictures."""
        return count_originals(work, rows)

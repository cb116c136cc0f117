"""The base images of a step under a limit, its own or that of a step before."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias, TypeVar

from dagster import AssetKey

from assets.kit.limits import (
    LimitConfig,
    SamplingKey,
    expected_subset,
    stratified_head,
    stratified_order,
)
from assets.kit.step import Extent, Step
from assets.kit.step_run import Input, Row, StepRun
from assets.vlmbias.common import GROUP, photographs, split_photograph_key
from assets.vlmbias.photographs.subjects import SUBJECTS, list_photographs
from generators.photographs import Photograph
from resources.models.catalog import Catalog

Photographs: TypeAlias = Sequence[Photograph]
LimitedT = TypeVar("LimitedT", bound=LimitConfig)

SUBJECTS_OF_TOPIC: Mapping[str, Input] = {
    "subjects": Input(AssetKey([GROUP, "subjects"]), dimension="topic", row_columns=SUBJECTS)
}
_PICTURE = ("sha256", "width", "height")


class PhotographStep(Step[LimitedT]):
    """A step about a painter's base images of a topic; a limit is on base images."""

    inputs: Mapping[str, Input] = SUBJECTS_OF_TOPIC
    success_outcome: ClassVar[str]
    """Outcome of a row with a usable picture."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        filled_columns = {
            **dict.fromkeys(("failed", "malformed", "unpainted"), ("reason",)),
            "refused": ("reason", "refusal"),
            "dropped": (*_PICTURE, "reason"),
            self.success_outcome: _PICTURE,
        }
        self.asset = replace(self.asset, partitions_def=photographs, kinds=("image",))
        self.table = replace(
            self.table, filled_columns=filled_columns, list_expected_keys=self.list_keys
        )

    @abstractmethod
    def load_base_images(self, work: StepRun[LimitedT]) -> Photographs:
        """The base images that the step before is about."""

    @abstractmethod
    def list_keys(self, work: StepRun[LimitedT], rows: Sequence[Row]) -> Iterable[tuple[Any, ...]]:
        """List the names of all rows that the table has to have."""

    def list_all(self, work: StepRun[LimitedT]) -> list[Photograph]:
        """List all base images of the topic."""
        _, topic = split_photograph_key(work.partition)
        return list_photographs(topic, work.tables["subjects"]["suggestion"])

    def list_limited(self, work: StepRun[LimitedT]) -> list[Photograph]:
        """The base images that this step is about."""
        return select_first_photographs(self.load_base_images(work), work.config.limit)

    def extent(self, work: StepRun[LimitedT], rows: Sequence[Row]) -> Extent:
        """Count the base images within the limit, of all base images of the topic."""
        return Extent(
            count=len(self.list_limited(work)), total=len(self.list_all(work)), unit="base images"
        )


def select_first_photographs(photographs: Photographs, limit: int | None) -> list[Photograph]:
    """The first base images in the order of a limit: even over subtopics, then over subjects."""
    return stratified_head(photographs, limit, _build_sampling_key)


def select_painted(photographs: Photographs, paintings: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of paintings is about.

    That is the first so many, as a limit leaves them, if their prompts are just those of the table;
    else all.
    """
    painted_prompts, needed_prompts, number = {row["prompt"] for row in paintings}, set[str](), 0
    for photograph in stratified_order(photographs, _build_sampling_key):
        prompts = {painting.prompt for painting in photograph.paintings}
        if not prompts <= painted_prompts:
            break
        needed_prompts, number = needed_prompts | prompts, number + 1
    return select_first_photographs(
        photographs, number if number and needed_prompts == painted_prompts else None
    )


def select_edited(photographs: Photographs, rows: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of edits is about, likewise."""
    return expected_subset(photographs, {row["base_id"] for row in rows}, _build_sampling_key)


def _build_sampling_key(photograph: Photograph) -> SamplingKey:
    return SamplingKey(photograph.base_id, (photograph.subtopic, photograph.subject))

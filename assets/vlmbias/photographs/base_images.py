"""The base images of a step under a limit, its own or that of a step before."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, TypeAlias, TypeVar

from dagster import AssetKey

from assets.kit.limits import Limited, Placed, first_of, in_order, part_of
from assets.kit.step import Extent, Input, Row, Step, Work
from assets.vlmbias.common import GROUP, painter_and_topic, photographs
from assets.vlmbias.photographs.subjects import SUBJECTS, photographs_of
from generators.photographs import Photograph
from resources.models.catalog import Catalog

Photographs: TypeAlias = Sequence[Photograph]
LimitedT = TypeVar("LimitedT", bound=Limited)

SUBJECTS_OF_TOPIC: Mapping[str, Input] = {
    "subjects": Input(AssetKey([GROUP, "subjects"]), dimension="topic", read_by=SUBJECTS)
}
_PICTURE = ("sha256", "width", "height")


class PhotographStep(Step[LimitedT]):
    """A step about a painter's base images of a topic; a limit is on base images."""

    group, partitions, kinds = GROUP, photographs, ("image",)
    inputs: Mapping[str, Input] = SUBJECTS_OF_TOPIC
    done: ClassVar[str]
    """How a row ended that has a picture which can be used."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.present = {
            **dict.fromkeys(("failed", "malformed", "unpainted"), ("reason",)),
            "refused": ("reason", "refusal"),
            "dropped": (*_PICTURE, "reason"),
            self.done: _PICTURE,
        }

    @abstractmethod
    def there(self, work: Work[LimitedT]) -> Photographs:
        """The base images that the step before is about."""

    def every(self, work: Work[LimitedT]) -> list[Photograph]:
        """All base images of the topic."""
        _, topic = painter_and_topic(work.partition)
        return photographs_of(topic, work.tables["subjects"]["suggested"])

    def part(self, work: Work[LimitedT]) -> list[Photograph]:
        """The base images that this step is about."""
        return first_photographs(self.there(work), work.config.limit)

    def extent(self, work: Work[LimitedT], rows: Sequence[Row]) -> Extent:
        """Of all base images of the topic."""
        return Extent(len(self.part(work)), len(self.every(work)), "base images")


def first_photographs(photographs: Photographs, limit: int | None) -> list[Photograph]:
    """The first base images in the order of a limit: even over subtopics, then over subjects."""
    return first_of(photographs, limit, _placed)


def part_painted(photographs: Photographs, paintings: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of paintings is about.

    That is the first so many, as a limit leaves them, if their prompts are just those of the table;
    else all.
    """
    there, needed, number = {row["prompt"] for row in paintings}, set[str](), 0
    for photograph in in_order(photographs, _placed):
        prompts = {painting.prompt for painting in photograph.paintings}
        if not prompts <= there:
            break
        needed, number = needed | prompts, number + 1
    return first_photographs(photographs, number if number and needed == there else None)


def part_in(photographs: Photographs, rows: Iterable[Row]) -> list[Photograph]:
    """The base images that a table of edits is about, likewise."""
    return part_of(photographs, {row["base_id"] for row in rows}, _placed)


def _placed(photograph: Photograph) -> Placed:
    return Placed(photograph.base_id, (photograph.subtopic, photograph.subject))

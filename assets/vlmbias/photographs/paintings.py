"""The first pictures: originals, logos, cars and shoes, each painted once."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import TEXT, WHOLE, Columns
from assets.kit.limits import Limited
from assets.kit.pictures import PICTURED, pictured, sheet
from assets.kit.step import Conversation, Row, Work
from assets.vlmbias.common import painter_and_topic
from assets.vlmbias.photographs.base_images import PhotographStep
from generators.photographs import Painting, Photograph
from resources.models.catalog import Model
from resources.models.requests import Paint

PAINTINGS = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    shows=(TEXT, "original, logo, car or shoe"),
    prompt=(TEXT, "What the painter was asked for (Appendix M)"),
    seed=(WHOLE, "Seed of its noise; empty for a painter that takes none"),
    outcome=(TEXT, "painted, refused, malformed or failed"),
    **PICTURED,
)


class Painter(Limited):
    """What is left to choose about painting; a limit is on base images."""

    seed: int = Field(
        default=0, description="Of the noise, for a painter that takes one; another paints anew."
    )


def to_paint(photographs: Iterable[Photograph]) -> dict[str, Painting]:
    """The paintings behind base images, each prompt once."""
    return {
        painting.prompt: painting for photograph in photographs for painting in photograph.paintings
    }


class Paintings(PhotographStep[Painter]):
    """What a painter paints: each distinct prompt of the topic's base images once."""

    name, columns, config = "paintings", PAINTINGS, Painter
    description = "What a text-to-image model paints: originals, or what logos are placed on."
    asks = Paint("")
    done, named_by = "painted", ("prompt",)

    def model(self, partition: str, config: Painter) -> Model:
        """The painter of the partition."""
        return chosen(self.catalog, painter_and_topic(partition)[0], "painter")

    def there(self, work: Work[Painter]) -> list[Photograph]:
        """All base images of the topic."""
        return self.every(work)

    def wanted(self, work: Work[Painter], rows: Sequence[Row]) -> list[tuple[str]]:
        """The prompts."""
        return [(prompt,) for prompt in to_paint(self.part(work))]

    def rows(self, work: Work[Painter]) -> list[dict[str, Any]]:
        """A row for each prompt."""
        name, topic = painter_and_topic(work.partition)
        painter, subjects = self.model(work.partition, work.config), work.rows("subjects")
        made_of = {
            "rehearsal": painter.rehearses or any(row["rehearsal"] for row in subjects),
            "calls": sorted({key for row in subjects for key in row["calls"]}),
        }
        return [
            {
                "domain": topic,
                "painter": name,
                "shows": painting.shows,
                "prompt": painting.prompt,
                "seed": work.config.seed if painter.takes_seed else None,
                **dict.fromkeys(PICTURED),
                **made_of,
            }
            for painting in to_paint(self.part(work)).values()
        ]

    def converse(self, work: Work[Painter], row: Row) -> Conversation:
        """Have a prompt painted."""
        outcome, calls = yield Paint(row["prompt"], row["seed"])
        painted = pictured(outcome, self.done, work.images)
        return {**painted, "calls": [*row["calls"], *calls]}

    def metadata(self, work: Work[Painter], rows: Sequence[Row]) -> dict[str, Any]:
        """Some of the pictures."""
        caption = "{shows}: {prompt:.60}…".format_map
        return {"pictures": len(rows), "contact_sheet": sheet(rows, caption, work.images)}

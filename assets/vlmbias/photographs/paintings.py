"""The first pictures: originals, logos, cars and shoes, each painted once."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from assets.kit.columns import TEXT, WHOLE, Columns
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import find_model
from assets.kit.pictures import PICTURE_COLUMNS, picture_columns, sample_contact_sheet
from assets.kit.step import Conversation, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.vlmbias.common import asset_key, split_photograph_key
from assets.vlmbias.photographs.base_images import PhotographStep
from generators.photographs import Photograph, SourcePainting
from resources.models.catalog import Model
from resources.models.requests import PaintRequest

PAINTINGS = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Painter, as models.yaml names it"),
    content=(TEXT, "Subject of the picture: original, logo, car or shoe"),
    prompt=(TEXT, "Prompt of the painter (Appendix M)"),
    seed=(WHOLE, "Seed of its noise; empty for a painter that takes none"),
    outcome=(TEXT, "painted, refused, malformed or failed"),
    **PICTURE_COLUMNS,
)


class PaintingsConfig(LimitConfig):
    """Settings of the painting; a limit is on base images."""

    seed: int = Field(
        default=0,
        description=(
            "Random seed for the noise, if the painter takes one. Another seed paints all "
            "pictures anew."
        ),
    )


def list_paintings(photographs: Iterable[Photograph]) -> dict[str, SourcePainting]:
    """The paintings behind base images, each prompt once."""
    return {
        painting.prompt: painting for photograph in photographs for painting in photograph.paintings
    }


class Paintings(PhotographStep[PaintingsConfig]):
    """Paintings of each distinct prompt of the topic's base images."""

    config, success_outcome, example_request = PaintingsConfig, "painted", PaintRequest("")
    asset = StepAsset(
        key=asset_key("paintings"),
        description="Pictures that a text-to-image model paints: originals, or objects for logos.",
    )
    table = StepTable(columns=PAINTINGS, key_columns=("prompt",))

    def model(self, partition: str, config: PaintingsConfig) -> Model:
        """The painter of the partition."""
        return find_model(self.catalog, split_photograph_key(partition)[0], "painter")

    def load_base_images(self, work: StepRun[PaintingsConfig]) -> list[Photograph]:
        """Return all base images of the topic."""
        return self.list_all(work)

    def list_keys(self, work: StepRun[PaintingsConfig], rows: Sequence[Row]) -> list[tuple[str]]:
        """The prompts."""
        return [(prompt,) for prompt in list_paintings(self.list_limited(work))]

    def rows(self, work: StepRun[PaintingsConfig]) -> list[dict[str, Any]]:
        """A row for each prompt."""
        name, topic = split_photograph_key(work.partition)
        painter, subjects = self.model(work.partition, work.config), work.read_rows("subjects")
        made_of = {
            "is_stand_in": painter.is_stand_in or any(row["is_stand_in"] for row in subjects),
            "calls": sorted({key for row in subjects for key in row["calls"]}),
        }
        return [
            {
                "domain": topic,
                "painter": name,
                "content": painting.content,
                "prompt": painting.prompt,
                "seed": work.config.seed if painter.takes_seed else None,
                **dict.fromkeys(PICTURE_COLUMNS),
                **made_of,
            }
            for painting in list_paintings(self.list_limited(work)).values()
        ]

    def converse(self, work: StepRun[PaintingsConfig], row: Row) -> Conversation:
        """Have a prompt painted."""
        outcome, calls = yield PaintRequest(row["prompt"], row["seed"])
        painted = picture_columns(outcome, self.success_outcome, work.images)
        return {**painted, "calls": [*row["calls"], *calls]}

    def metadata(self, work: StepRun[PaintingsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the pictures and show some."""
        caption = "{content}: {prompt:.60}…".format_map
        return {
            "pictures": len(rows),
            "contact_sheet": sample_contact_sheet(rows, caption, work.images),
        }

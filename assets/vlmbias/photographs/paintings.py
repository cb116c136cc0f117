"""The first pictures: originals, logos, cars and shoes, each painted once."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import TEXT, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, partial_metadata
from assets.kit.pictures import PICTURED, pictured, sheet
from assets.vlmbias.common import painter_and_topic, photographs, table_asset
from assets.vlmbias.photographs.parts import first_photographs
from assets.vlmbias.photographs.subjects import photographs_of
from generators.photographs import Painting, Photograph
from resources.budget import Budget
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient
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


def paint(painter: Model, prompt: str, seed: int) -> Paint:
    """What a painter is asked."""
    return Paint(prompt, seed_of(painter, seed))


def seed_of(painter: Model, seed: int) -> int | None:
    """The seed, for a painter that takes one."""
    return seed if painter.takes_seed else None


def paintings_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `paintings`, with the painters of a catalog."""

    @table_asset(
        kinds=["image"],
        columns=PAINTINGS,
        partitions=photographs,
        pool="paintings",
        description="What a text-to-image model paints: originals, or what logos are placed on.",
    )
    def paintings(
        context: AssetExecutionContext,
        config: Painter,
        subjects: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Paint each distinct prompt of the topic's base images once."""
        name, topic = painter_and_topic(context.partition_key)
        painter = chosen(catalog, name, "painter")
        every = photographs_of(topic, subjects)
        some = first_photographs(every, config.limit)
        wanted = to_paint(some)
        requests = [paint(painter, prompt, config.seed) for prompt in wanted]
        asked = models.ask(painter, requests, context.log, budget.account(context))
        rehearsal = painter.rehearses or bool(subjects["rehearsal"].any())
        suggested = sorted({key for keys in subjects["calls"] for key in keys})
        rows = [
            {
                "domain": topic,
                "painter": name,
                "shows": painting.shows,
                "prompt": painting.prompt,
                "seed": seed_of(painter, config.seed),
                **dict.fromkeys(PICTURED),
                "rehearsal": rehearsal,
                "calls": [*suggested, *keys],
                **pictured(outcome, "painted", images),
            }
            for painting, outcome, keys in zip(
                wanted.values(), asked.outcomes, asked.keys, strict=True
            )
        ]
        return materialized(
            PAINTINGS.table(rows),
            pictures=len(rows),
            **partial_metadata(len(some), len(every), "base images"),
            **Counter(row["outcome"] for row in rows),
            contact_sheet=sheet(rows, _caption, images),
            **cost_metadata(asked),
        )

    return paintings


def _caption(row: Mapping[str, Any]) -> str:
    return f"{row['shows']}: {row['prompt'][:60]}…"

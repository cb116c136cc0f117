"""Questions about pictures drawn anew with another seed, each paired with one of the set.

A pair differs in the place of the change alone, and in nothing that a seed does not choose. Q1 and
Q2 are asked: a comparison is made of these.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetKey, MaterializeResult
from pydantic import Field

from assets.kit.columns import TEXT, WHOLE, Columns, to_materialize_result, to_records
from assets.kit.previews import contact_sheet
from assets.kit.rerolls import SameSeed
from assets.vlmbias.common import GROUP, rerolled_topics, table_asset
from assets.vlmbias.images import IMAGES, draw_scenes
from assets.vlmbias.measurements import MEASURED_COLUMNS, MEASUREMENTS, measure_images
from assets.vlmbias.questions import QUESTIONS, build_question_row, require_drawn_alike
from assets.vlmbias.results import COUNTING
from assets.vlmbias.verification import require_verified
from generators.domains import Domain, load_domain
from generators.scene_pairs import ScenePair, pair_scenes
from metrics import QUESTION_GROUPS
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

REROLLED_QUESTIONS = Columns(
    **QUESTIONS.columns,
    released_id=(TEXT, "Image of the set that it is paired with: same design, size and question"),
    released_sha256=(TEXT, "Name of that image's PNG in the image store"),
    places=(TEXT, "Board with the place of the change in the set's image, and in this one"),
    released_seed=(WHOLE, "Seed of the set's design"),
)


class RerollConfig(Config):
    """Seed of the new pictures."""

    seed: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description=(
            "Random seed of the new pictures, not that of the set. Default: the set's plus 1."
        ),
    )


def require_other_seed(seed: int, released_seed: int) -> None:
    """Raise `SameSeed` for the seed of the set."""
    if seed == released_seed:
        raise SameSeed(
            f"Seed {seed}: it is that of the set itself, whose pictures are to be compared with "
            "others. Choose another seed."
        )


@table_asset(
    columns=REROLLED_QUESTIONS,
    partitions=rerolled_topics,
    kinds=["image"],
    deps=[AssetKey([GROUP, name]) for name in ("drawn_images", "original_images", "measurements")],
    description=(
        "Q1 and Q2 about pictures drawn anew with another seed, each beside its pair in the set: "
        "the same board and change at another place. Topics take part whose seed chooses places."
    ),
)
def rerolled_questions(
    context: AssetExecutionContext,
    config: RerollConfig,
    home: DataRoot,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Draw the new pictures of a topic, read their labels back, and ask about them.

    Raises what `draft_questions` does.
    """
    table = draft_questions(home, images, work_cache, context.partition_key, config.seed)
    rows = table.to_pandas()
    pictures = rows.drop_duplicates("image_id")
    smallest = pictures[pictures["size"].eq(pictures["size"].min())]
    return to_materialize_result(
        table,
        questions=len(rows),
        images=len(pictures),
        scene_pairs=int(rows["base_id"].nunique()),
        places=int(rows["places"].nunique()),
        seed=int(rows["seed"].iloc[0]),
        released_seed=int(rows["released_seed"].iloc[0]),
        contact_sheet=contact_sheet(
            [(row["base_id"], images.get(row["sha256"])) for row in to_records(smallest)]
        ),
    )


def draft_questions(
    home: DataRoot, images: ImageStore, work_cache: WorkCache, name: str, seed: int | None
) -> pa.Table:
    """Draw the new pictures of a topic, and build the table of questions; nothing but them is kept.

    Raises `SameSeed`, and `Unverified` where a label is not proved, or a new picture has the
    pixels of another or of one in the set.
    """
    topic = load_domain(name)
    drawn, originals = (
        home.table(AssetKey([GROUP, name]), topic.name, [*IMAGES.columns])
        for name in ("drawn_images", "original_images")
    )
    measurements = home.table(
        AssetKey([GROUP, "measurements"]), topic.name, [*MEASUREMENTS.columns]
    )
    require_drawn_alike(topic, drawn, originals)
    released_seed = int(drawn["seed"].iloc[0])
    seed = released_seed + 1 if seed is None else seed
    require_other_seed(seed, released_seed)
    released, fresh = map(topic.draw_module.list_scenes, (released_seed, seed))
    pairs = pair_scenes(released, fresh, topic.locate_change)
    sizes = sorted(map(int, drawn["size"].unique()))
    rows, _ = draw_scenes(topic, [pair.fresh for pair in pairs], sizes, seed, images, work_cache)
    new_images = IMAGES.build_table(rows).to_pandas()
    readings, _ = measure_images(topic.name, new_images[MEASURED_COLUMNS], images, work_cache)
    # Together with the set: a new picture with the pixels of one there is a fault as well.
    require_verified(
        pd.concat([drawn, originals, new_images], ignore_index=True),
        pd.concat([measurements, MEASUREMENTS.build_table(readings).to_pandas()]),
    )
    digests = dict(zip(drawn["image_id"], drawn["sha256"], strict=True))
    pairs_by_id = {pair.fresh.base_id: pair for pair in pairs}
    return REROLLED_QUESTIONS.build_table(
        [
            question_row | {"released_seed": released_seed}
            for row in rows
            for question_row in _build_rows(topic, row, pairs_by_id[row["base_id"]], digests)
        ]
    )


def _build_rows(
    topic: Domain, image_row: Mapping[str, Any], pair: ScenePair, digests: Mapping[str, str]
) -> list[dict[str, Any]]:
    released_id = pair.released.image_id(image_row["size"])
    pair_cells = {
        "released_id": released_id,
        "released_sha256": digests[released_id],
        "places": pair.places,
    }
    return [
        build_question_row(image_row, question) | pair_cells
        for question in topic.ask_module.write_questions(pair.fresh)
        if QUESTION_GROUPS[question.question_id] == COUNTING
    ]

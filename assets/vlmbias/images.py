"""Images drawn by code: the counterfactual set and its originals."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetKey, AssetsDefinition, MaterializeResult

from assets.kit.columns import BOOLEAN, REALS, TEXT, TEXTS, WHOLE, Columns, to_materialize_result
from assets.kit.pictures import draw_missing_pictures
from assets.kit.previews import contact_sheet, markdown_table
from assets.vlmbias.common import GROUP, drawn_topics, isolated_topics, table_asset
from generators.canvas import RASTERISER
from generators.domains import Domain, load_domain
from generators.isolation import SUFFIX
from generators.scene import ImageSet, Scene
from generators.worker_jobs import DrawJob, draw_png
from resources.execution.work_loop import FinishedWork
from resources.faults import CorruptItem
from resources.settings.image_design import ImageDesign
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

IMAGES = Columns(
    image_id=(TEXT, "Readable name: topic, scene and size"),
    base_id=(TEXT, "The scene, without its size"),
    original_id=(TEXT, "Scene that this one departs from; its own for an original"),
    sha256=(TEXT, "Name of the PNG in the image store"),
    domain=(TEXT, "Topic"),
    subject=(TEXT, "Subject of the picture"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    variant=(TEXT, "original or counterfactual"),
    modification=(TEXT, "Change made to the picture"),
    image_set=(
        TEXT,
        "benchmark, originals or isolated; of photographs also unreviewed or stand-in",
    ),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    size=(WHOLE, "The longer side in px"),
    seed=(WHOLE, "Seed of the design"),
    target=(TEXT, "Target of Q1 and Q2"),
    targets=(TEXTS, "All targets that can be read from this image"),
    truths=(REALS, "Intended count or difference of each target"),
    standards=(REALS, "Usual count or difference of each target"),
    settings=(TEXT, "Further numbers that the drawing used, as JSON"),
    generator_version=(TEXT, "Version of the drawing code, or the model that painted or edited"),
    rasteriser=(TEXT, "Library that rasterised the vector picture, or resized the photograph"),
    painter=(TEXT, "Painter of a photograph, as models.yaml names it; empty if drawn by code"),
    review=(TEXT, "pixels (labels are read back from them), or accepted or unreviewed by people"),
    is_stand_in=(
        BOOLEAN,
        "True if a stand-in took part, so that it is no result",
    ),
)

ISOLATED = "isolated"
"""The image set of what is counted alone."""


def _build_drawing_asset(
    name: str, image_set: ImageSet, description: str, *, is_isolated: bool = False
) -> AssetsDefinition:
    """Build the asset that draws the missing images of an image set, whole or isolated."""

    def draw(
        context: AssetExecutionContext,
        design: ImageDesign,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
    ) -> MaterializeResult[pa.Table]:
        topic = load_domain(f"{context.partition_key}{SUFFIX if is_isolated else ''}")
        return _draw_set(topic, image_set, context, design, home, images, work_cache)

    return table_asset(
        key=AssetKey([GROUP, name]),
        kinds=["image"],
        columns=IMAGES,
        partitions=isolated_topics if is_isolated else drawn_topics,
        description=description,
    )(draw)


def _draw_set(
    topic: Domain,
    image_set: ImageSet,
    context: AssetExecutionContext,
    design: ImageDesign,
    home: DataRoot,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    started = perf_counter()
    sizes = design.select_sizes(topic)
    scenes = [
        scene
        for scene in topic.draw_module.list_scenes(design.seed)
        if scene.image_set == image_set
    ]
    rows, drawn = draw_scenes(topic, scenes, sizes, design.seed, images, work_cache)
    changed = _find_changed(rows, context, home)
    smallest = [row for row in rows if row["size"] == sizes[0]]
    return to_materialize_result(
        IMAGES.build_table(rows),
        images=len(rows),
        distinct=len({row["sha256"] for row in rows}),
        drawn_now=drawn.done,
        healed=drawn.lost,
        changed=len(changed),
        changed_images=markdown_table(pd.DataFrame({"image_id": changed})),
        seconds=round(perf_counter() - started, 2),
        seed=design.seed,
        contact_sheet=contact_sheet(
            [(row["base_id"].partition("/")[2], images.get(row["sha256"])) for row in smallest]
        ),
    )


def draw_scenes(
    topic: Domain,
    scenes: Iterable[Scene],
    sizes: Sequence[int],
    seed: int,
    images: ImageStore,
    work_cache: WorkCache,
) -> tuple[list[dict[str, Any]], FinishedWork[str]]:
    """Draw the missing pictures of scenes at all sizes; return the rows of `IMAGES` of all."""
    drawings = {
        _drawing_key(topic, drawing): drawing
        for drawing in (DrawJob(topic.name, scene, size) for scene in scenes for size in sizes)
    }
    works = {key: key for key in drawings}
    drawn = draw_missing_pictures(works, drawings.__getitem__, draw_png, images, work_cache)
    px = images.sizes(drawn.results.values())
    rows = [
        _row(drawings[key], seed, topic, digest, px[digest])
        for key, digest in drawn.results.items()
    ]
    return rows, drawn


def _find_changed(
    rows: Sequence[Mapping[str, Any]], context: AssetExecutionContext, home: DataRoot
) -> list[str]:
    """Images that had other pixels in the previous table, in the same design and size."""
    try:
        stored_table = home.table(context.asset_key, context.partition_key)
    except (FileNotFoundError, CorruptItem):
        return []
    stored_digests = stored_table.set_index(["image_id", "seed"])["sha256"].to_dict()
    changed = [
        str(row["image_id"])
        for row in rows
        if stored_digests.get((row["image_id"], row["seed"]), row["sha256"]) != row["sha256"]
    ]
    if changed:
        context.log.warning(
            "%d images differ from those of before: judges are asked about them when their answers "
            "are materialized. They are %s",
            len(changed),
            ", ".join(changed),
        )
    return changed


def _drawing_key(topic: Domain, drawing: DrawJob) -> str:
    scene = asdict(drawing.scene)
    return build_work_key("draw", topic.draw_module.VERSION, topic.fingerprint, scene, drawing.size)


def _row(
    drawing: DrawJob, seed: int, topic: Domain, digest: str, px: tuple[int, int]
) -> dict[str, Any]:
    scene, (width, height) = drawing.scene, px
    name = topic.name.removesuffix(SUFFIX)
    return {
        **asdict(scene),
        "domain": name,
        "image_set": scene.image_set if name == topic.name else ISOLATED,
        "image_id": scene.image_id(drawing.size),
        "sha256": digest,
        "width": width,
        "height": height,
        "size": drawing.size,
        "seed": seed,
        "targets": list(scene.truths),
        "truths": list(scene.truths.values()),
        "standards": list(scene.standards.values()),
        "settings": json.dumps(dict(scene.settings), ensure_ascii=False, sort_keys=True),
        "generator_version": topic.draw_module.VERSION,
        "rasteriser": RASTERISER,
        "painter": "",
        "review": "pixels",
        "is_stand_in": False,
    }


drawn_images = _build_drawing_asset(
    "drawn_images",
    "benchmark",
    "The counterfactual images of a topic (for the illusions, originals as well).",
)
"""The 912 images (VLMBias, Appendices E to I)."""

original_images = _build_drawing_asset(
    "original_images",
    "originals",
    "The unmodified images of a topic, for the sanity check (sections 4.1 and 4.6).",
)
"""The 117 originals."""

isolated_images = _build_drawing_asset(
    "isolated_images",
    "benchmark",
    "The counterfactual images of a topic with what is counted alone, without its surroundings.",
    is_isolated=True,
)
"""The images without their background (the paper's third version)."""

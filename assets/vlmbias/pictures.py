"""The pictures of VLMBias that other benchmarks can use."""

from dagster import AssetKey

from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.step_run import Row
from assets.vlmbias.common import GROUP
from assets.vlmbias.images import IMAGES
from assets.vlmbias.photographs.publication import PHOTOGRAPHS
from generators.domains import load_domains
from generators.topics import DRAWN, PHOTOGRAPHED


def _picture(row: Row) -> BenchmarkPicture:
    return BenchmarkPicture(
        image_id=row["image_id"],
        sha256=row["sha256"],
        scene=row["base_id"],
        is_stand_in=row["is_stand_in"],
        references=[caption] if (caption := _caption(row)) else [],
    )


def _caption(row: Row) -> str:
    """Describe a drawn picture by the count that code reads back from its pixels."""
    topic = load_domains().get(row["domain"])
    truth = dict(zip(row["targets"], row["truths"], strict=True)).get(row["target"])
    if topic is None or truth is None or not truth.is_integer() or "ratio" in row["target"]:
        return ""
    return f"{topic.format_caption(row['subject'])} with {truth:.0f} {row['target']}."


PICTURES = tuple(
    PictureTable(
        asset=AssetKey([GROUP, name]), columns=columns, partitions=topics, to_picture=_picture
    )
    for name, columns, topics in (
        ("drawn_images", IMAGES, DRAWN),
        ("original_images", IMAGES, DRAWN),
        ("photographs", PHOTOGRAPHS, PHOTOGRAPHED),
    )
)

"""The pictures of VLMBias that other benchmarks can use."""

import json
from collections.abc import Mapping
from functools import cache

from dagster import AssetKey

from assets.kit.licences import CHESS_PIECES, GLYPHS, OWN
from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.release_tables import Proof
from assets.kit.step_run import Row
from assets.vlmbias.common import GROUP
from assets.vlmbias.images import IMAGES
from assets.vlmbias.photographs.publication import PHOTOGRAPHS
from generators.domains import load_domains
from generators.fingerprint import find_dependencies
from generators.topics import DRAWN, PHOTOGRAPHED

PROOFS: Mapping[str, Proof] = {"pixels": "pixels", "accepted": "people"}
"""Proofs of a picture's labels by its column `review`; there is none for other values."""


def _picture(row: Row) -> BenchmarkPicture:
    return BenchmarkPicture(
        image_id=row["image_id"],
        sha256=row["sha256"],
        scene=row["base_id"],
        is_stand_in=row["is_stand_in"],
        references=[caption] if (caption := _caption(row)) else [],
        parts=list_parts(row),
        proof=PROOFS.get(row["review"]),
    )


def _caption(row: Row) -> str:
    """Describe a drawn picture by the count that code reads back from its pixels."""
    topic = load_domains().get(row["domain"])
    truth = dict(zip(row["targets"], row["truths"], strict=True)).get(row["target"])
    if topic is None or truth is None or not truth.is_integer() or "ratio" in row["target"]:
        return ""
    return f"{topic.format_caption(row['subject'])} with {truth:.0f} {row['target']}."


def list_parts(row: Row) -> tuple[str, ...]:
    """List whose licences cover a picture: its painter's and editors', or those of drawn shapes."""
    if not row["painter"]:
        return _list_drawn_parts(row["domain"])
    settings = json.loads(row["settings"])
    editors = [settings[name] for name in ("editor", "background_editor") if name in settings]
    return (OWN, row["painter"], *dict.fromkeys(editors))


@cache
def _list_drawn_parts(topic: str) -> tuple[str, ...]:
    dependencies = find_dependencies(f"generators.domains.{topic}.draw")
    foreign = {"chess": CHESS_PIECES, "generators.glyphs": GLYPHS}
    return (OWN, *(part for module, part in foreign.items() if module in dependencies))


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

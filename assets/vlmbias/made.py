"""What the demo shows of VLMBias."""

from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.vlmbias.common import GROUP
from assets.vlmbias.verification import agreement
from generators.topics import DRAWN, PHOTOGRAPHED
from resources.home import Home


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By topic: images, originals, how many are verified, stand-ins, distinct pictures.

    Verified is an image whose every label was read back from its pixels.
    """
    drawn = [_drawn(home, topic) for topic in DRAWN]
    return drawn + [_photographed(home, topic) for topic in PHOTOGRAPHED]


def _drawn(home: Home, topic: str) -> dict[str, Any]:
    images = pd.concat(_table(home, name, topic) for name in ("drawn_images", "original_images"))
    readings = _table(home, "measurements", topic)
    agrees = agreement(images, readings).groupby(["image_id", "sha256"])["agrees"].all()
    pixels = readings.drop_duplicates("image_id")["pixels_sha256"]
    return _row(topic, images, int(agrees.sum()), pixels)


def _photographed(home: Home, topic: str) -> dict[str, Any]:
    images = _table(home, "photographs", topic)
    return _row(topic, images, 0, images["sha256"])


def _row(topic: str, images: pd.DataFrame, verified: int, pictures: pd.Series) -> dict[str, Any]:
    original = (
        images["image_set"].eq("originals") if topic in DRAWN else images["variant"].eq("original")
    )
    return {
        "topic": topic,
        "images": int((~original).sum()),
        "originals": int(original.sum()),
        "verified": verified,
        "stand-ins": int(images["rehearsal"].sum()),
        "distinct": int(pictures.nunique()),
    }


def _table(home: Home, name: str, topic: str) -> pd.DataFrame:
    return home.table(AssetKey([GROUP, name]), topic)

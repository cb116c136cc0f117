"""The report: one folder that opens in a browser wherever it lies."""

from hashlib import sha256
from pathlib import Path
from time import perf_counter

import pandas as pd
from dagster import (
    AssetExecutionContext,
    AssetIn,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)

from assets import site
from assets.vlmbias.accuracy import ANSWER_INS, EVERY_TOPIC
from assets.vlmbias.common import GROUP, OWNERS
from resources.images import ImageStore

_TABLES = {
    name: AssetIn([GROUP, name], metadata=EVERY_TOPIC)
    for name in ("drawn_images", "original_images", "measurements", "questions")
}


@asset(
    key_prefix=GROUP,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"python", "html"},
    ins={**_TABLES, **ANSWER_INS, "accuracy": AssetIn([GROUP, "accuracy"])},
    description="A static site: leaderboard, charts, gallery, and a page for every scene.",
    code_version="1",
)
def report(
    context: AssetExecutionContext,
    images: ImageStore,
    drawn_images: dict[str, pd.DataFrame],
    original_images: dict[str, pd.DataFrame],
    measurements: dict[str, pd.DataFrame],
    questions: dict[str, pd.DataFrame],
    accuracy: pd.DataFrame,
    **answers: dict[str, pd.DataFrame],
) -> MaterializeResult[None]:
    """Write the site beside the tables, from what is materialized so far."""
    started = perf_counter()
    pictures = _all(drawn_images, original_images)
    folder = Path(images.root) / GROUP / "report"
    index = site.build(
        folder,
        images=pictures,
        measurements=_all(measurements),
        questions=_all(questions),
        answers=_all(*answers.values()),
        accuracy=accuracy,
        png_of=images.get,
        title="VLMBias",
        facts=_facts(pictures),
    )
    version = sha256(b"".join(p.read_bytes() for p in sorted(folder.rglob("*.html"))))
    return MaterializeResult(
        data_version=DataVersion(version.hexdigest()),
        metadata={
            "path": MetadataValue.path(str(index)),
            "scenes": int(pictures["base_id"].nunique()),
            "images": len(pictures),
            "seconds": round(perf_counter() - started, 2),
        },
    )


def _all(*tables_by_topic: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(
        [table for tables in tables_by_topic for table in tables.values()], ignore_index=True
    )


def _facts(pictures: pd.DataFrame) -> dict[str, str]:
    def each(column: str) -> str:
        return ", ".join(str(value) for value in sorted(pictures[column].unique()))

    versions = pictures.groupby("domain")["generator_version"].unique()
    return {
        "Seed": each("seed"),
        "Sizes": f"{each('size')} px",
        "Drawing code": ", ".join(f"{name} {'/'.join(v)}" for name, v in versions.items()),
        "Rasteriser": each("rasteriser"),
    }

"""The report: one folder that opens in a browser wherever it lies."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import pandas as pd
from dagster import (
    AssetExecutionContext,
    AssetIn,
    AssetsDefinition,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)

from assets import site
from assets.vlmbias.accuracy import ACCURACY, EVERY_TOPIC, NothingYet, all_answers, answer_ins
from assets.vlmbias.answers import is_reference
from assets.vlmbias.common import GROUP, OWNERS, Mismatch
from assets.vlmbias.proof import SAME, agreement
from metrics import accuracy_table
from resources.faults import writing
from resources.home import Home
from resources.images import ImageStore
from resources.models.catalog import Model

_TABLES = {
    name: AssetIn([GROUP, name], metadata=EVERY_TOPIC)
    for name in ("drawn_images", "original_images", "measurements", "questions")
}


def report_over(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of these judges."""

    @asset(
        key_prefix=GROUP,
        group_name=GROUP,
        owners=OWNERS,
        kinds={"python", "html"},
        ins={**_TABLES, **answer_ins(judges), "accuracy": AssetIn([GROUP, "accuracy"])},
        description="A static site: leaderboard, charts, gallery, and a page for every scene.",
        code_version="1",
    )
    def report(
        context: AssetExecutionContext,
        home: Home,
        images: ImageStore,
        drawn_images: dict[str, pd.DataFrame],
        original_images: dict[str, pd.DataFrame],
        measurements: dict[str, pd.DataFrame],
        questions: dict[str, pd.DataFrame],
        accuracy: pd.DataFrame,
        **answers: dict[str, pd.DataFrame],
    ) -> MaterializeResult[None]:
        """Write the site beside the tables, from what is materialized so far.

        Raises `NothingYet` where a table is still missing, and `Mismatch` where one is older than
        what it was made from: a report never mixes two states of the benchmark.
        """
        started = perf_counter()
        pictures = _all("images", drawn_images, original_images)
        readings = _all("measurements", measurements)
        given = all_answers(judges, questions, answers)
        for topic, asked in questions.items():
            _check_same_images(topic, asked, pictures[pictures["domain"] == topic])
        if not ACCURACY.table(accuracy_table(given)).to_pandas().equals(accuracy):
            raise Mismatch("vlmbias/accuracy is older than the answers: materialize it again.")
        proved = agreement(pictures, readings)[[*SAME, "agrees"]]
        folder = Path(home.root) / GROUP / "report"
        with writing(folder):
            index = site.build(
                folder,
                images=pictures,
                measurements=readings.merge(proved, on=SAME, how="left", validate="1:1"),
                questions=_all("questions", questions),
                answers=given,
                accuracy=accuracy,
                png_of=images.get,
                title="VLMBias",
                facts=_facts(pictures),
                references=[judge.name for judge in judges if is_reference(judge)],
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

    return report


def _check_same_images(topic: str, asked: pd.DataFrame, pictures: pd.DataFrame) -> None:
    if set(asked["sha256"]) != set(pictures["sha256"]):
        raise Mismatch(
            f"vlmbias/questions ({topic}) asks about other images than are drawn now. Materialize "
            f"vlmbias/measurements and vlmbias/questions for {topic} again, then its answers."
        )


def _all(name: str, *tables_by_topic: dict[str, pd.DataFrame]) -> pd.DataFrame:
    tables = [table for tables in tables_by_topic for table in tables.values()]
    if not tables:
        raise NothingYet(f"There are no {name} yet: materialize the topics of vlmbias first.")
    return pd.concat(tables, ignore_index=True)


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

"""The report: one folder that opens in a browser wherever it lies."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetIn,
    AssetsDefinition,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)

from assets.kit.table_asset import OWNERS, Mismatch, NothingYet, Reporting
from assets.report.beside import introduce
from assets.report.revision import content_version, written
from assets.report.rows import Row, rows
from assets.vlmbias import pages as site
from assets.vlmbias.accuracy import (
    ACCURACY,
    EVERY_TOPIC,
    all_answers,
    partial_of,
    stored_answers,
)
from assets.vlmbias.common import GROUP, edited_by
from assets.vlmbias.images import IMAGES
from assets.vlmbias.measurements import MEASUREMENTS
from assets.vlmbias.photographs.published import PHOTOGRAPHS
from assets.vlmbias.proof import SAME, agreement
from generators.domains import Box, domain
from generators.scene import Scene
from generators.topics import PHOTOGRAPHED, title
from metrics import accuracy_table
from resources.calls.spending import Spent
from resources.faults import writing
from resources.home import Home
from resources.images import ImageStore
from resources.models.catalog import Model
from resources.models.client import ModelClient

_TABLES = {
    name: AssetIn([GROUP, name], metadata=EVERY_TOPIC)
    for name in ("drawn_images", "original_images", "photographs", "measurements")
}
_BASE_IMAGES = 304 + 91 + 69
"""Drawn by code, animals and logos: at three sizes the 1,392 images of the benchmark."""
_SAME_PICTURE = ["image_id", "sha256", "image_set", "painter", "review", "rehearsal"]
_NO_READINGS = MEASUREMENTS.table([])


def report_over(judges: Sequence[Model], writers: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of these judges, and of the flags that these writers edited, if any."""

    @asset(
        key_prefix=GROUP,
        group_name=GROUP,
        owners=OWNERS,
        kinds={"python", "html"},
        # Questions and answers are read without edges: `accuracy` changes whenever they do.
        ins={**_TABLES, "accuracy": AssetIn([GROUP, "accuracy"])},
        deps=[AssetDep(edited_by(writer.name)) for writer in writers],
        description="VLMBias: does a vision-language model count what it sees, or what it "
        "remembers? The results of this group as a static site: leaderboard, charts, gallery, and "
        "a page for every scene.",
        code_version="2",
    )
    def report(
        context: AssetExecutionContext,
        config: Reporting,
        home: Home,
        images: ImageStore,
        models: ModelClient,
        drawn_images: dict[str, pd.DataFrame],
        original_images: dict[str, pd.DataFrame],
        photographs: dict[str, pd.DataFrame],
        measurements: dict[str, pd.DataFrame],
        accuracy: pd.DataFrame,
    ) -> MaterializeResult[None]:
        """Write the site beside the tables, from what is materialized so far.

        Raises `NothingYet` where a table is still missing, and `Mismatch` where one is older than
        what it was made from: a report never mixes two states of the benchmark.
        """
        started = perf_counter()
        pictures = _pictures(
            [*drawn_images.values(), *original_images.values()], photographs.values()
        )
        drawn = pictures[pictures["painter"].eq("")]
        readings = _all("measurements", measurements) if len(drawn) else _NO_READINGS.to_pandas()
        questions, answers = stored_answers(home, judges)
        given = all_answers(judges, questions, answers)
        for topic, asked in questions.items():
            _check_same_images(topic, asked, pictures[pictures["domain"] == topic])
        if not ACCURACY.table(accuracy_table(given)).to_pandas().equals(accuracy):
            raise Mismatch("vlmbias/accuracy is older than the answers: materialize it again.")
        proved = agreement(drawn, readings)[[*SAME, "agrees"]]
        folder = Path(home.root) / GROUP / "report"
        told = written()
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
                facts=_facts(pictures) | told,
                references=[judge.name for judge in judges if judge.rehearses],
                complete=_BASE_IMAGES * pictures["size"].nunique(),
                partial=partial_of(judges, questions, answers),
                edited_tables=list(_edited(home, writers)),
                spent=[each for each in models.calls.spending() if _is_ours(each)],
                originals=config.originals,
                outlines=outlines(drawn),
            )
        introduce(Path(home.root))
        return MaterializeResult(
            data_version=DataVersion(content_version(folder, told)),
            metadata={
                "path": MetadataValue.path(str(index)),
                "address": MetadataValue.path(index.as_uri()),
                "scenes": int(pictures["base_id"].nunique()),
                "images": len(pictures),
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return report


def outlines(drawn: pd.DataFrame) -> dict[str, Sequence[Box]]:
    """What was changed in each drawn counterfactual, by base image, at its smallest size."""
    changed = drawn[drawn["variant"].eq("counterfactual")].sort_values("size", kind="stable")
    return {
        row.base_id: domain(row.domain).outline(_scene_of(row), row.size)
        for row in rows(changed.drop_duplicates("base_id"))
    }


def _scene_of(row: Row) -> Scene:
    return Scene(
        base_id=row.base_id,
        original_id=row.original_id,
        domain=row.domain,
        subject=row.subject,
        subtopic=row.subtopic,
        variant=row.variant,
        modification=row.modification,
        target=row.target,
        truths=dict(zip(row.targets, row.truths, strict=True)),
        standards=dict(zip(row.targets, row.standards, strict=True)),
        settings=json.loads(row.settings),
        image_set=row.image_set,
    )


def _check_same_images(topic: str, asked: pd.DataFrame, pictures: pd.DataFrame) -> None:
    """The questions have to be about these pictures, as they are reviewed now."""
    now, then = (
        set(table[_SAME_PICTURE].itertuples(index=False, name=None)) for table in (pictures, asked)
    )
    if now == then:
        return
    if topic in PHOTOGRAPHED:
        raise Mismatch(
            f"vlmbias/questions ({topic}) asks about other photographs than vlmbias/photographs "
            "holds now, or they have been reviewed since. Materialize vlmbias/photographs and "
            f"vlmbias/questions for {topic} again, then its answers."
        )
    raise Mismatch(
        f"vlmbias/questions ({topic}) asks about other images than are drawn now. Materialize "
        f"vlmbias/measurements and vlmbias/questions for {topic} again, then its answers."
    )


def _pictures(drawn: Iterable[pd.DataFrame], photographs: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """All pictures with the columns of photographs, which are empty where code has drawn them."""
    tables = [IMAGES.table(table) for table in drawn]
    tables += [PHOTOGRAPHS.table(table) for table in photographs]
    if not tables:
        raise NothingYet("There are no images yet: materialize the topics of vlmbias first.")
    whole = pa.concat_tables([*tables, PHOTOGRAPHS.table([])], promote_options="default")
    found: pd.DataFrame = whole.to_pandas()
    return found


def _all(name: str, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    if not tables:
        raise NothingYet(f"There are no {name} yet: materialize the topics of vlmbias first.")
    return pd.concat(tables.values(), ignore_index=True)


def _edited(home: Home, writers: Sequence[Model]) -> Iterator[pd.DataFrame]:
    """The tables of those writers that have edited flags."""
    for writer in writers:
        with suppress(FileNotFoundError):
            yield home.table(edited_by(writer.name))


def _is_ours(spent: Spent) -> bool:
    return spent.asset.startswith(f"{GROUP}/")


def _facts(pictures: pd.DataFrame) -> dict[str, str]:
    """The lines of the footer; what is about drawn pictures or photographs alone, if there are."""

    def each(column: str, of: pd.DataFrame = pictures) -> str:
        return ", ".join(str(value) for value in sorted(of[column].unique()))

    def versions(of: pd.DataFrame) -> str:
        found = of.groupby("domain")["generator_version"].unique()
        return ", ".join(f"{title(str(name))} {'/'.join(sorted(v))}" for name, v in found.items())

    painted = pictures["painter"].ne("")
    drawn, photographs = pictures[~painted], pictures[painted]
    facts = {"Seed": each("seed"), "Sizes": f"{each('size')} px"}
    if len(drawn):
        facts |= {"Drawing code": versions(drawn), "Rasteriser": each("rasteriser", drawn)}
    if len(photographs):
        facts |= {
            "Painters": each("painter", photographs),
            "Models that painted and edited": versions(photographs),
            "Photographs brought to size by": each("rasteriser", photographs),
        }
    return facts

"""Pictures: those of a dataset, each once, with captions that are known to be right."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from dagster import AllPartitionMapping, AssetDep, PartitionMapping, StaticPartitionMapping
from pydantic import Field

from assets.kit.collections import (
    COLLECTION_COLUMNS,
    collection_key,
    load_listed_collections,
    select_stored_rows,
)
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns
from assets.kit.forecast import PENDING, NotCountable
from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.pictures import sample_contact_sheet
from assets.kit.step import Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.philautia.common import (
    asset_key,
    dataset_partition,
    dataset_partitions,
    load_declared_tables,
)
from resources.models.catalog import Catalog
from resources.settings.run_config import Config

PICTURES = Columns(
    image_id=(TEXT, "Readable, stable name, as in its source"),
    dataset=(TEXT, "The dataset: a collection, or a part of another benchmark"),
    sha256=(TEXT, "Name of the picture in the image store"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    references=(TEXTS, "Correct captions; empty if there are none"),
    outcome=(TEXT, "taken"),
    is_stand_in=(BOOLEAN, "True if a stand-in made it, so that it is no result"),
)

INCLUDED = "taken"


class _Found(NamedTuple):
    """A picture, and whether it is still to be painted."""

    picture: BenchmarkPicture
    is_pending: bool = False


class PaintersConfig(Config):
    """Painters to include, for a dataset that painters have made."""

    painters: list[str] = Field(
        default=[],
        description=(
            "Painters to include, as models.yaml names them. Default: all that have painted the "
            "dataset."
        ),
    )


class DatasetPictures(Step[PaintersConfig]):
    """The pictures of a dataset; no model is asked."""

    config = PaintersConfig
    asset = StepAsset(
        key=asset_key("pictures"),
        partitions_def=dataset_partitions,
        kinds=("image",),
        description=(
            "Pictures of a collection, or of a part of another benchmark: the largest of each "
            "scene, with correct captions if there are any."
        ),
    )
    table = StepTable(columns=PICTURES, key_columns=("image_id",))

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        tables = {
            table.asset: table for group in load_declared_tables().values() for table in group
        }
        deps = [
            *(AssetDep(key, partition_mapping=_mapping(source)) for key, source in tables.items()),
            *(AssetDep(collection_key(name)) for name in load_listed_collections()),
        ]
        self.asset = replace(self.asset, deps=deps)

    def rows(self, work: StepRun[PaintersConfig]) -> list[dict[str, Any]]:
        """Build one row per picture. Raises `NotCountable` for a dataset without pictures yet."""
        tables = load_declared_tables().get(work.partition)
        candidates = list(
            _iterate_declared(self.catalog, work, tables) if tables else _iterate_collected(work)
        )
        sizes = work.images.sizes({candidate.picture.sha256 for candidate in candidates})
        return [
            _row(work.partition, candidate, sizes)
            for candidate in _select_largest(candidates, sizes)
        ]

    def metadata(self, work: StepRun[PaintersConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Show some pictures, and count those with references."""
        return {
            "pictures": len(rows),
            "with_references": sum(bool(row["references"]) for row in rows),
            "contact_sheet": sample_contact_sheet(
                rows, lambda row: str(row["image_id"]), work.images
            ),
        }


def _mapping(table: PictureTable) -> PartitionMapping:
    if table.by_painter:
        return AllPartitionMapping()
    names = {
        n: dataset_partition(n)
        for n, tables in load_declared_tables().items()
        if table.asset in {t.asset for t in tables}
    }
    return StaticPartitionMapping({part: name for name, part in names.items()})


def _select_largest(
    candidates: Iterable[_Found], sizes: Mapping[str, tuple[int, int]]
) -> list[_Found]:
    """The largest picture of each scene, and of several that have the same bytes the first."""

    def area(candidate: _Found) -> int:
        return prod(sizes.get(candidate.picture.sha256, (0, 0)))

    scenes: dict[str, _Found] = {}
    for candidate in candidates:
        before = scenes.setdefault(candidate.picture.scene, candidate)
        if area(candidate) > area(before):
            scenes[candidate.picture.scene] = candidate
    firsts: dict[str, _Found] = {}
    for candidate in scenes.values():
        firsts.setdefault(
            candidate.picture.image_id if candidate.is_pending else candidate.picture.sha256,
            candidate,
        )
    return [*firsts.values()]


def _row(dataset: str, candidate: _Found, sizes: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    picture = candidate.picture
    width, height = sizes.get(picture.sha256, (None, None))
    return {
        "image_id": picture.image_id,
        "dataset": dataset,
        "sha256": picture.sha256,
        "width": width,
        "height": height,
        "references": [*picture.references],
        "outcome": PENDING if candidate.is_pending else INCLUDED,
        "is_stand_in": picture.is_stand_in,
    }


def _iterate_declared(
    catalog: Catalog, work: StepRun[PaintersConfig], tables: Sequence[PictureTable]
) -> Iterator[_Found]:
    part, painter_names = (
        dataset_partition(work.partition),
        [model.name for model in catalog.select_role("painter")],
    )
    painters = work.config.painters or painter_names
    is_stored = False
    for table in tables:
        for partition in (
            [f"{part}|{painter}" for painter in painters] if table.by_painter else [part]
        ):
            stored = work.find_table(table.asset, partition)
            for row in [] if stored is None else table.columns.read_rows(stored, table.asset):
                picture = table.to_picture(row)
                if picture is not None:
                    yield _Found(picture, row.get("outcome") == PENDING)
            is_stored = is_stored or stored is not None
    if not is_stored:
        raise NotCountable(f"{tables[0].asset.to_user_string()} ({part})")


def _iterate_collected(work: StepRun[PaintersConfig]) -> Iterator[_Found]:
    for digest, rows in group_rows_by_picture(work).items():
        references = dict.fromkeys(text for row in rows for text in row["references"] or ())
        name = format_picture_name(work.partition, rows[0])
        yield _Found(
            BenchmarkPicture(name, digest, digest, is_stand_in=False, references=[*references])
        )


def group_rows_by_picture(work: StepRun[Any]) -> dict[str, list[Row]]:
    """Group a collection's rows by their picture's sha256. Raises `NotCountable`."""
    collection = collection_key(work.partition)
    stored = work.find_table(collection, "")
    if stored is None:
        raise NotCountable(collection.to_user_string())
    groups: dict[str, list[Row]] = {}
    for row in select_stored_rows(COLLECTION_COLUMNS.read_rows(stored, collection)):
        groups.setdefault(row["sha256"], []).append(row)
    return groups


def format_picture_name(dataset: str, first: Row) -> str:
    """Return the name of a collection's picture: from its file, or else from its first row."""
    return f"{dataset}/{first['file']}" if first["file"] else str(first["image_id"])

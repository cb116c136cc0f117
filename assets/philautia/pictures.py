"""Pictures: those of a dataset, each once, with captions that are known to be right."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.pictures import sample_contact_sheet
from assets.kit.step import PENDING, NotCountable, Row, Step, StepRun
from assets.philautia.common import (
    GROUP,
    dataset_partition,
    dataset_partitions,
    load_declared_tables,
)
from resources.models.catalog import Catalog
from resources.settings.run_config import Config

PICTURES = Columns(
    image_id=(TEXT, "Readable and stable: what it is called where it comes from"),
    dataset=(TEXT, "The dataset: a collection, or a part of another benchmark"),
    sha256=(TEXT, "Name of the picture in the image store"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    references=(TEXTS, "Captions that are known to be right; none where there are none"),
    outcome=(TEXT, "taken"),
    is_stand_in=(BOOLEAN, "Whether something offline made it, so that it is no result"),
)

INCLUDED = "taken"


class _Found(NamedTuple):
    """A picture, and whether it is still to be painted."""

    picture: BenchmarkPicture
    is_pending: bool = False


class PaintersConfig(Config):
    """Whose pictures are taken, of a dataset that painters have made."""

    painters: list[str] = Field(
        default=[], description="Names in models.yaml; by default all that have painted it."
    )


class DatasetPictures(Step[PaintersConfig]):
    """The pictures of a dataset; nobody is asked."""

    group, name, columns, config = GROUP, "pictures", PICTURES, PaintersConfig
    may_send_requests, partitions_factory = False, staticmethod(dataset_partitions)
    kinds, key_columns = ("image",), ("image_id",)
    description = (
        "The pictures of a collection, or of another benchmark's part: of each scene the largest, "
        "with captions that are known to be right where there are any."
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        tables = {table.asset: table for of in load_declared_tables().values() for table in of}
        self.deps = [
            *(AssetDep(key, partition_mapping=_mapping(each)) for key, each in tables.items()),
            *(AssetDep(collection_key(name)) for name in load_listed_collections()),
        ]

    def rows(self, work: StepRun[PaintersConfig]) -> list[dict[str, Any]]:
        """One row a picture. Raises `NotCountable` for a dataset of which there is nothing yet."""
        tables = load_declared_tables().get(work.partition)
        found = list(_declared(self.catalog, work, tables) if tables else _collected(work))
        sizes = work.images.sizes({each.picture.sha256 for each in found})
        return [_row(work.partition, each, sizes) for each in _one_each(found, sizes)]

    def metadata(self, work: StepRun[PaintersConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Some in pictures, and how many have references."""
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
        for n, of in load_declared_tables().items()
        if table.asset in {t.asset for t in of}
    }
    return StaticPartitionMapping({part: name for name, part in names.items()})


def _one_each(found: Iterable[_Found], sizes: Mapping[str, tuple[int, int]]) -> list[_Found]:
    """The largest picture of each scene, and of several that have the same bytes the first."""

    def area(each: _Found) -> int:
        return prod(sizes.get(each.picture.sha256, (0, 0)))

    scenes: dict[str, _Found] = {}
    for each in found:
        before = scenes.setdefault(each.picture.scene, each)
        if area(each) > area(before):
            scenes[each.picture.scene] = each
    firsts: dict[str, _Found] = {}
    for each in scenes.values():
        firsts.setdefault(each.picture.image_id if each.is_pending else each.picture.sha256, each)
    return [*firsts.values()]


def _row(dataset: str, found: _Found, sizes: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    picture = found.picture
    width, height = sizes.get(picture.sha256, (None, None))
    return {
        "image_id": picture.image_id,
        "dataset": dataset,
        "sha256": picture.sha256,
        "width": width,
        "height": height,
        "references": [*picture.references],
        "outcome": PENDING if found.is_pending else INCLUDED,
        "is_stand_in": picture.is_stand_in,
    }


def _declared(
    catalog: Catalog, work: StepRun[PaintersConfig], tables: Sequence[PictureTable]
) -> Iterator[_Found]:
    part, known = (
        dataset_partition(work.partition),
        [each.name for each in catalog.select_role("painter")],
    )
    painters = work.config.painters or known
    there = False
    for table in tables:
        for where in [f"{part}|{each}" for each in painters] if table.by_painter else [part]:
            stored = work.find_table(table.asset, where)
            for row in [] if stored is None else table.columns.read_rows(stored, table.asset):
                picture = table.to_picture(row)
                if picture is not None:
                    yield _Found(picture, row.get("outcome") == PENDING)
            there = there or stored is not None
    if not there:
        raise NotCountable(f"{tables[0].asset.to_user_string()} ({part})")


def _collected(work: StepRun[PaintersConfig]) -> Iterator[_Found]:
    for digest, rows in group_rows_by_picture(work).items():
        references = dict.fromkeys(text for row in rows for text in row["references"] or ())
        name = format_picture_name(work.partition, rows[0])
        yield _Found(
            BenchmarkPicture(name, digest, digest, is_stand_in=False, references=[*references])
        )


def group_rows_by_picture(work: StepRun[Any]) -> dict[str, list[Row]]:
    """By sha256: the rows of a collection that are about one picture. Raises `NotCountable`."""
    collection = collection_key(work.partition)
    stored = work.find_table(collection, "")
    if stored is None:
        raise NotCountable(collection.to_user_string())
    found: dict[str, list[Row]] = {}
    for row in select_stored_rows(COLLECTION_COLUMNS.read_rows(stored, collection)):
        found.setdefault(row["sha256"], []).append(row)
    return found


def format_picture_name(dataset: str, first: Row) -> str:
    """What a picture of a collection is called: as its file, or as its first row."""
    return f"{dataset}/{first['file']}" if first["file"] else str(first["image_id"])

"""Rows of releases, read some at a time, and the split that a base image is in."""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from dagster import AssetKey

from assets.kit.columns import Columns
from assets.kit.licences import OWN
from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.release_tables import ReleaseInputs

Split: TypeAlias = Literal["validation", "test"]
SPLITS: tuple[Split, ...] = ("validation", "test")
_VALIDATION_PART = 10
"""One in so many base images is for validation."""


def find_split(base_image: str) -> Split:
    """Find the split of a base image by a hash of its name, whatever else is released."""
    digest = sha256(base_image.encode()).digest()
    return "test" if int.from_bytes(digest) % _VALIDATION_PART else "validation"


def digest_parameters(parameters: str) -> str:
    """Digest parameters to eight letters, as part of a row's name."""
    return sha256(parameters.encode()).hexdigest()[:8]


def list_stored(inputs: ReleaseInputs, asset: AssetKey) -> list[str]:
    """List the released partitions that an asset has a table of."""
    return [name for name in inputs.partitions if inputs.home.holds(asset, name)]


def read_partition(
    inputs: ReleaseInputs, asset: AssetKey, partition: str, columns: Columns
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a partition, some in memory at a time; raises `CorruptItem`."""
    return columns.iterate_rows(inputs.home.open_table(asset, partition))


def find_part(inputs: ReleaseInputs, name: str | None) -> str:
    """Find whose licence covers what a model, a collection or code of ours made."""
    models = {model.name: model for model in inputs.catalog.models}
    is_own = not name or name in _OWN_WRITERS or (name in models and models[name].is_stand_in)
    return OWN if is_own else str(name)


_OWN_WRITERS = ("grammar", "own")
"""Writers that are no models: rules of this project, and a file of whoever releases."""


def load_benchmark_pictures(
    inputs: ReleaseInputs, tables: Iterable[PictureTable], part: str
) -> Mapping[str, BenchmarkPicture]:
    """Load the pictures of a part of a benchmark by their sha256, those of all painters."""
    painters = [model.name for model in inputs.catalog.select_role("painter")]
    pictures = dict[str, BenchmarkPicture]()
    for table in tables:
        for partition in [f"{part}|{name}" for name in painters] if table.by_painter else [part]:
            if inputs.home.holds(table.asset, partition):
                rows = read_partition(inputs, table.asset, partition, table.columns)
                chosen = filter(None, map(table.to_picture, rows))
                pictures |= {picture.sha256: picture for picture in chosen}
    return pictures

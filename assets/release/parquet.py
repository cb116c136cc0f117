"""Splits as Parquet with embedded pictures, as Hugging Face's `datasets` opens them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from assets.kit.release_tables import ReleaseRow, ReleaseTable
from assets.release.checksums import HashedFile
from resources.execution.workers import map_in_threads
from resources.storage.image_store import ImageStore

IMAGE = pa.struct({"bytes": pa.binary(), "path": pa.string()})
"""An embedded picture: its bytes and a file name, as `datasets.Image` stores it."""
GROUP_ROWS, GROUP_PICTURES, GROUP_BYTES = 10_000, 100, 64_000_000
"""Most rows, pictures and bytes of pictures of a row group, of which memory holds four copies;
viewers stop at 286 MiB."""
SHARD_BYTES = 500_000_000
"""Bytes of pictures after which a split goes on in another file."""


class LoadedRow(NamedTuple):
    """A row, with the bytes of its pictures by column."""

    row: ReleaseRow
    pictures: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes of its pictures."""
        return sum(map(len, self.pictures.values()))


def load_rows(
    table: ReleaseTable, rows: Iterable[ReleaseRow], images: ImageStore
) -> Iterator[LoadedRow]:
    """Load the pictures of rows, a few ahead; raises as `ImageStore.get`."""

    def load(row: ReleaseRow) -> LoadedRow:
        digests = {name: row.cells[name] for name in table.image_columns}
        pictures = {name: images.get(digest) for name, digest in digests.items() if digest}
        return LoadedRow(row, pictures)

    return map_in_threads(load, rows)


def build_schema(table: ReleaseTable) -> pa.Schema:
    """Build the schema of a table's files, with the features that `datasets` reads from it."""
    types = {name: kind for name, (kind, _) in table.columns.columns.items()}
    types |= dict.fromkeys(table.image_columns, IMAGE)
    features = {name: _build_feature(kind) for name, kind in types.items()}
    return pa.schema(types, {"huggingface": json.dumps({"info": {"features": features}})})


def _build_feature(kind: pa.DataType) -> dict[str, Any]:
    """Build the JSON of a feature, as `datasets` writes it."""
    if kind == IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _build_feature(kind.value_type), "_type": "List"}
    return {"dtype": _DTYPES.get(str(kind), str(kind)), "_type": "Value"}


_DTYPES = {"double": "float64", "float": "float32"}
"""Names of types that differ between Arrow and `datasets`."""


class SplitWriter:
    """Writes a split's files below a folder; `finish` gives them their names."""

    def __init__(self, folder: Path, table: ReleaseTable, split: str) -> None:
        self._root, self._split = folder, split
        self._folder = folder / "data" / table.config
        self._folder.mkdir(parents=True, exist_ok=True)
        self._schema = build_schema(table)
        leaves = [leaf for field in self._schema for leaf in _list_leaves(field.name, field.type)]
        words = [leaf for leaf in leaves if not leaf.endswith(".bytes")]
        self._options = {
            # A PNG is packed already.
            "compression": {leaf: "zstd" if leaf in words else "none" for leaf in leaves},
            "use_dictionary": words,
            "write_page_index": True,
            "write_page_checksum": True,
        }
        self._rows = list[dict[str, Any]]()
        self._pictures = self._group_bytes = self._shard_bytes = 0
        self._shard: _Shard | None = None
        self._digests = list[str]()

    def write(self, loaded: LoadedRow) -> None:
        """Add a row."""
        is_full = (
            len(self._rows) == GROUP_ROWS
            or self._pictures + len(loaded.pictures) > GROUP_PICTURES
            or self._group_bytes + loaded.size > GROUP_BYTES
        )
        if self._rows and is_full:
            self._write_group()
        cells = dict(loaded.row.cells)
        for name, data in loaded.pictures.items():
            cells[name] = {"bytes": data, "path": f"{cells[name]}.png"}
        self._rows.append(cells)
        self._pictures += len(loaded.pictures)
        self._group_bytes += loaded.size

    def finish(self) -> dict[str, str]:
        """Close the split; return the sha256 of each file by its path below the folder."""
        self._write_group()
        self._close_shard()
        digests = {}
        for number, digest in enumerate(self._digests):
            name = f"{self._split}-{number:05d}-of-{len(self._digests):05d}.parquet"
            self._locate_shard(number).rename(self._folder / name)
            digests[(self._folder / name).relative_to(self._root).as_posix()] = digest
        return digests

    def _write_group(self) -> None:
        if self._shard and self._shard_bytes + self._group_bytes > SHARD_BYTES:
            self._close_shard()
        if self._shard is None:
            path = self._locate_shard(len(self._digests))
            self._shard = _Shard(path, self._schema, self._options)
        group = pa.Table.from_pylist(self._rows, schema=self._schema)
        self._shard_bytes += self._group_bytes
        self._rows, self._pictures, self._group_bytes = [], 0, 0
        self._shard.write(group)

    def _close_shard(self) -> None:
        assert self._shard is not None
        self._digests.append(self._shard.close())
        self._shard, self._shard_bytes = None, 0

    def _locate_shard(self, number: int) -> Path:
        return self._folder / f"{self._split}-{number:05d}.parquet"


class _Shard:
    def __init__(self, path: Path, schema: pa.Schema, options: Mapping[str, Any]) -> None:
        self._file = HashedFile(path)
        self._parquet = pq.ParquetWriter(self._file, schema, **options)

    def write(self, rows: pa.Table) -> None:
        self._parquet.write_table(rows)

    def close(self) -> str:
        self._parquet.close()
        return self._file.close()


def _list_leaves(path: str, kind: pa.DataType) -> list[str]:
    """List the paths of a column's values as Parquet names them."""
    if pa.types.is_list(kind):
        return _list_leaves(f"{path}.list.element", kind.value_type)
    if pa.types.is_struct(kind):
        return [leaf for f in kind for leaf in _list_leaves(f"{path}.{f.name}", f.type)]
    return [path]

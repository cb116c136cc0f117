"""Splits as shards of WebDataset: tar files, with the files of a row beside each other."""

import io
import json
import tarfile
from pathlib import Path
from typing import Self

from assets.kit.release_tables import ReleaseTable
from assets.release.parquet import SHARD_BYTES, LoadedRow


class ShardWriter:
    """Writes `webdataset/<config>/<split>-000000.tar`, … below a folder.

    A row is `<key>.json` with its columns and `<key>.png`; of several pictures each is
    `<key>.<column>.png`. Keys number the rows of a split and have no dot, which would end them.
    """

    def __init__(self, folder: Path, table: ReleaseTable, split: str) -> None:
        self._folder = folder / "webdataset" / table.config
        self._folder.mkdir(parents=True, exist_ok=True)
        self._image_columns, self._split = table.image_columns, split
        self._rows = self._shards = self._bytes = 0
        self._tar: tarfile.TarFile | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tar is not None:
            self._tar.close()

    def write(self, loaded: LoadedRow) -> None:
        """Add a row."""
        if self._tar is None or self._bytes + loaded.size > SHARD_BYTES:
            self._open_shard()
        key = f"{self._split}-{self._rows:08d}"
        cells = {
            name: value
            for name, value in loaded.row.cells.items()
            if name not in self._image_columns
        }
        is_single = len(self._image_columns) == 1
        for name, data in loaded.pictures.items():
            self._add(f"{key}.png" if is_single else f"{key}.{name}.png", data)
        self._add(f"{key}.json", json.dumps(cells, ensure_ascii=False).encode())
        self._rows, self._bytes = self._rows + 1, self._bytes + loaded.size

    def _open_shard(self) -> None:
        self.__exit__()
        path = self._folder / f"{self._split}-{self._shards:06d}.tar"
        self._tar = tarfile.open(path, "x", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        self._shards, self._bytes = self._shards + 1, 0

    def _add(self, name: str, data: bytes) -> None:
        assert self._tar is not None
        info = tarfile.TarInfo(name)
        info.size = len(data)
        self._tar.addfile(info, io.BytesIO(data))

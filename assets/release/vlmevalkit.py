"""Splits as VLMEvalKit's TSV, with pictures in base64."""

import csv
import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assets.kit.release_tables import ReleaseTable
from assets.release.parquet import LoadedRow


class TsvWriter:
    """Writes `vlmevalkit/<config>_<split>.tsv` below a folder."""

    def __init__(self, folder: Path, table: ReleaseTable, split: str) -> None:
        self._columns = table.tsv_columns
        path = folder / "vlmevalkit" / f"{table.config}_{split}.tsv"
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("x", encoding="utf-8", newline="")
        self._csv = csv.writer(self._file, delimiter="\t", lineterminator="\n")
        self._csv.writerow(self._columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def write(self, loaded: LoadedRow) -> None:
        """Add a row; lists as JSON."""
        self._csv.writerow(_to_cell(loaded, name) for name in self._columns.values())


def _to_cell(loaded: LoadedRow, name: str) -> Any:
    if name in loaded.pictures:
        return b64encode(loaded.pictures[name]).decode()
    value = loaded.row.cells.get(name)
    is_nested = isinstance(value, list | tuple | Mapping)
    return json.dumps(value, ensure_ascii=False) if is_nested else value

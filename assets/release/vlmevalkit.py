"""Splits as VLMEvalKit's TSV, with pictures in base64."""

import csv
import io
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
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
        self._write_line(map(_format_cell, self._columns))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def write(self, loaded: LoadedRow) -> None:
        """Add a row; lists as JSON."""
        self._write_line(
            b64encode(loaded.pictures[name]).decode()
            if name in loaded.pictures
            else _format_cell(loaded.row.cells.get(name))
            for name in self._columns.values()
        )

    def _write_line(self, cells: Iterable[str]) -> None:
        self._file.write("\t".join(cells) + "\n")


def _format_cell(value: Any) -> str:
    """A cell, quoted where it must be; pictures skip this, which takes longer than all else."""
    if isinstance(value, list | tuple | Mapping):
        value = json.dumps(value, ensure_ascii=False)
    if value in (None, ""):
        return ""
    line = io.StringIO()
    csv.writer(line, delimiter="\t", lineterminator="\n").writerow([value])
    return line.getvalue().removesuffix("\n")

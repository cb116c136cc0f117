"""Tables and folders that hold collections."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from resources.untrusted_input.json_text import replace_surrogates
from resources.user_files.arrow_rows import read_datasets, read_parquet
from resources.user_files.reader import read_rows
from resources.user_files.rows import Row, TableFormat, UserFileError, require_columns

_TABLES_OF_PICTURES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
"""Tables of a folder of pictures, as `datasets` names them."""


def read_table_or_folder(path: Path, table_format: TableFormat) -> Iterator[Row]:
    """The rows of a table, or of a folder.

    A folder is one that `datasets` has saved to disk, or has a table `metadata.csv` (or `.jsonl`,
    `.parquet`), or parts of one that all end in `.parquet`; else each file in it is a picture.
    Raises `UserFileError` if it cannot be read as a whole.
    """
    if not path.is_dir():
        yield from read_rows(path, table_format)
        return
    if (path / "dataset_dict.json").exists():
        splits = sorted(state.parent.name for state in path.glob("*/state.json"))
        raise UserFileError(
            f"{path} holds several splits: {', '.join(splits)}. Name one in collections.yaml, "
            f"as in `path: {path / (splits[0] if splits else 'train')}`."
        )
    tables = [path / name for name in _TABLES_OF_PICTURES if (path / name).exists()]
    if (path / "state.json").exists():
        yield from read_datasets(path, table_format)
    elif tables:
        yield from read_rows(tables[0], table_format)
    elif parts := sorted(path.glob("[!.]*.parquet")):
        yield from read_parquet(parts, table_format)
    else:
        require_columns(path, ("image", "folder"), table_format)
        yield from _read_pictures(path)


def _read_pictures(folder: Path) -> Iterator[Row]:
    """A row for each file or link, in the order of their names, except hidden ones.

    A link to a folder is not followed: its row has no picture.
    """
    files = sorted(path.relative_to(folder) for path in _find_files(folder))
    visible = [path for path in files if not any(part.startswith(".") for part in path.parts)]
    for number, path in enumerate(visible, 1):
        name = path.as_posix()
        if name == replace_surrogates(name):
            cells = {"image": name, "folder": path.parent.name}
            yield Row(number, name, cells, name=path.with_suffix("").as_posix())
        else:
            yield Row(number, f"file {number:,}", problem="its name is no text: rename it")


def _find_files(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> NoReturn:
        raise UserFileError(
            f"{error.filename} cannot be read ({error.strerror}). Make it a folder that you may "
            "read."
        )

    for parent, folders, files in os.walk(folder, onerror=refuse):
        paths = map(Path(parent).joinpath, folders)
        yield from (path for path in paths if path.is_symlink())
        yield from map(Path(parent).joinpath, files)

"""The tables that hold collections, row by row: what a row says is not looked at here.

A table larger than memory can be read, except for one of JSON that is not in lines.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from resources.collections.arrow_tables import rows_of_datasets, rows_of_parquet, rows_of_stream
from resources.collections.row import CollectionError, Row, Wanted, require_columns
from resources.collections.text_tables import rows_of_csv, rows_of_json, rows_of_json_lines
from resources.untrusted_input import valid_unicode

_JSON: Mapping[str, Callable[[Path, str], Iterator[Row]]] = {
    ".jsonl": rows_of_json_lines,
    ".ndjson": rows_of_json_lines,
    ".json": rows_of_json,
}
_ARROW: Mapping[str, Callable[[Sequence[Path], Wanted], Iterator[Row]]] = {
    ".parquet": rows_of_parquet,
    ".arrow": rows_of_stream,
}
_SEPARATED = (".csv", ".tsv")
_BESIDE_PICTURES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
"""What holds the columns of a folder of pictures, as `datasets` names it."""


def rows_of(
    path: Path, wanted: Wanted = (), encoding: str = "utf-8", heads: Sequence[str] = ()
) -> Iterator[Row]:
    """The rows of a table, or of a folder, with the columns that are `wanted`.

    A folder is what `datasets` has saved to disk, or holds a table `metadata.csv` (or `.jsonl`,
    `.parquet`), or parts of one that all end in `.parquet`; else each file in it is a picture.
    What is JSON may lack columns in some rows. `heads` name the columns of a table in text whose
    first line does not.

    Raises `CollectionError` where it cannot be read as a whole.
    """
    if path.is_dir():
        yield from _of_folder(path, wanted, encoding)
    elif not path.exists():
        raise CollectionError(f"{path} is not there. Correct `path` in collections.yaml.")
    elif (kind := path.suffix.lower()) in _SEPARATED or (heads and kind == ".txt"):
        yield from rows_of_csv(path, encoding, wanted, heads)
    elif kind in _JSON:
        yield from _JSON[kind](path, encoding)
    elif kind in _ARROW:
        yield from _ARROW[kind]([path], wanted)
    else:
        kinds = ", ".join([*_SEPARATED, *_JSON, *_ARROW])
        raise CollectionError(f"{path} is no table that is read. Save it as one of {kinds}.")


def _of_folder(folder: Path, wanted: Wanted, encoding: str) -> Iterator[Row]:
    if (folder / "dataset_dict.json").exists():
        splits = sorted(each.parent.name for each in folder.glob("*/state.json"))
        raise CollectionError(
            f"{folder} holds several splits: {', '.join(splits)}. Name one in collections.yaml, "
            f"as in `path: {folder / (splits[0] if splits else 'train')}`."
        )
    beside = [each for name in _BESIDE_PICTURES if (each := folder / name).exists()]
    if (folder / "state.json").exists():
        yield from rows_of_datasets(folder, wanted)
    elif beside:
        yield from rows_of(beside[0], wanted, encoding)
    elif parts := sorted(folder.glob("[!.]*.parquet")):
        yield from rows_of_parquet(parts, wanted)
    else:
        require_columns(folder, ("image", "folder"), wanted)
        yield from _of_pictures(folder)


def _of_pictures(folder: Path) -> Iterator[Row]:
    """A row for each file or link, in the order of their names; hidden ones are left out.

    A link to a folder is not followed: its row is then one without a picture.
    """
    named = sorted(each.relative_to(folder) for each in _files_in(folder))
    seen = [each for each in named if not any(part.startswith(".") for part in each.parts)]
    for number, name in enumerate(seen, 1):
        cells = {"image": name.as_posix(), "folder": name.parent.name}
        called = name.as_posix()
        if called == valid_unicode(called):
            yield Row(number, called, cells, name=name.with_suffix("").as_posix())
        else:
            yield Row(number, f"file {number:,}", problem="its name is no text: rename it")


def _files_in(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> NoReturn:
        raise CollectionError(
            f"{error.filename} cannot be read ({error.strerror}). Make it a folder that you may "
            "read."
        )

    for where, folders, files in os.walk(folder, onerror=refuse):
        there = map(Path(where).joinpath, folders)
        yield from (each for each in there if each.is_symlink())
        yield from map(Path(where).joinpath, files)

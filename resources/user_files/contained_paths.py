"""Files that a table names, kept to the folder that they belong to."""

import os
import unicodedata
from pathlib import Path

from resources.storage.atomic_writes import FilePath, is_remote, to_local_path


class OutsideFolder(ValueError):
    """A file lies outside its folder; the message says which, and what to do."""


def resolve_contained_file(folder: Path, name: str, *, may_leave: bool = False) -> Path:
    """The file of a name, from its folder. Raises `OutsideFolder` unless it `may_leave`.

    Accents may be written in another way than on the disk, as in archives from macOS.
    """
    path = folder / name
    require_contained(folder, path, may_leave=may_leave)
    if not os.path.lexists(path):
        for form in ("NFC", "NFD"):
            other_path = folder / unicodedata.normalize(form, name)
            if os.path.lexists(other_path):
                require_contained(folder, other_path, may_leave=may_leave)
                return other_path
    return path


def require_contained(folder: FilePath, path: FilePath, *, may_leave: bool) -> None:
    """Raise `OutsideFolder` where a file lies outside a folder, unless it `may_leave`.

    Links are followed: what counts is where the bytes lie. An object store has none.
    """
    if may_leave or _contains(folder, path):
        return
    raise OutsideFolder(
        f"{path} lies outside {folder}: move it there, or write `may_leave_folder: true` in the "
        "entry if its table is to be trusted"
    )


def _contains(folder: FilePath, path: FilePath) -> bool:
    if is_remote(folder):
        return str(path).startswith(f"{folder}/")
    home, place = map(os.path.realpath, map(to_local_path, (folder, path)))
    return os.path.commonpath([home, place]) == home

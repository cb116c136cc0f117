"""Files that a table names, kept to the folder that they belong to."""

import os
from pathlib import Path


class OutsideFolder(ValueError):
    """A file lies outside its folder; the message says which, and what to do."""


def resolve_contained_file(folder: Path, name: str, *, may_leave: bool = False) -> Path:
    """The file of a name, from its folder. Raises `OutsideFolder` unless it `may_leave`.

    Links are followed: what counts is where the bytes lie.
    """
    path = folder / name
    home, place = os.path.realpath(folder), os.path.realpath(path)
    if may_leave or os.path.commonpath([home, place]) == home:
        return path
    raise OutsideFolder(
        f"{path} lies outside {folder}: move it there, or write `may_leave_folder: true` in the "
        "entry if its table is to be trusted"
    )

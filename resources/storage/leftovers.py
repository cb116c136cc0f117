"""Leftovers of processes that were killed while they wrote, and copies that were fetched.

They lie in a data root, an image store and this machine's temporary folder. Other projects may keep
theirs beside the images, or in the data root: what they leave is named or placed otherwise, and
stays.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from upath import UPath

from resources.sites.site_waste import find_site_waste
from resources.storage.atomic_writes import is_remote, to_local_path
from resources.storage.file_batches import list_infos, remove_files
from resources.storage.files import list_fetched

_WRITING = re.compile(
    r"\..+\.(parquet|sqlite|html|csv|json|md|xml|yaml|png|cassette)\.[0-9a-f]{32}(-wal|-shm|-journal)?"
)
"""Names under which this project writes files of a data root before they are whole."""
_REPORTS, RELEASES = "report", "release"
"""Folders of all reports and all releases, in which each is built beside the one before."""
_BUILDING = re.compile(r"\.[a-z0-9_]+\.[0-9a-f]{32}(\.old)?")
_STORING = re.compile(r"\.[0-9a-f]{64}\.png\.[0-9a-f]{32}")
_PROBING = re.compile(r"\.probe\.[0-9a-f]{32}")
"""Name of an object that was written to learn whether any can be."""


def find_leftovers(root: UPath, images: UPath, cutoff: float) -> dict[UPath, int]:
    """Find hidden files and folders, or objects, last written before `cutoff`, with their sizes.

    Where the data root is in an object store, also copies on this machine, last used before it.
    """
    leftovers = {*list_fetched()} if is_remote(root) else _find_in_root(to_local_path(root))
    if not is_remote(images):
        stored = to_local_path(images).glob(f"{'[0-9a-f]' * 2}/.*")
        leftovers |= {path for path in stored if _is_hashed_file(_STORING, path)}
    sizes = {
        UPath(path): _measure(path) for path in sorted(leftovers) if path.lstat().st_mtime < cutoff
    }
    if is_remote(root):
        sizes |= find_site_waste(root / _REPORTS, cutoff)
    if is_remote(images):
        sizes |= _find_probes(images, cutoff)
    return sizes


def remove_leftovers(leftovers: Mapping[UPath, int]) -> None:
    """Remove what was found."""
    folders = {path for path in leftovers if not is_remote(path) and path.is_dir()}
    for folder in folders:
        shutil.rmtree(to_local_path(folder))
    remove_files(leftovers.keys() - folders)


def _find_in_root(root: Path) -> set[Path]:
    leftovers = {path for path in root.rglob(".*") if _is_hashed_file(_WRITING, path)}
    for path in (*(root / _REPORTS).glob(".*"), *(root / RELEASES).glob(".*")):
        if _BUILDING.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            leftovers.add(path)
    return leftovers


def _find_probes(images: UPath, cutoff: float) -> dict[UPath, int]:
    return {
        images / name: info.size
        for name, info in list_infos(images).items()
        if _PROBING.fullmatch(name) and info.modified_at < cutoff
    }


def _is_hashed_file(names: re.Pattern[str], path: Path) -> bool:
    return bool(names.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _measure(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())

"""Copies of published reports on this machine, as they lie in a data root on a disk."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath

from upath import UPath

from assets.report import roster
from assets.report.publish import has_hash, is_whole
from assets.report.start_page import JUDGE_FOLDERS
from resources.faults import MissingItem, write_errors
from resources.sites import MARK
from resources.sites.local_front import LocalFront
from resources.sites.local_site import LocalSite
from resources.sites.remote_front import RemoteFront
from resources.sites.remote_site import read_pages, read_pictures
from resources.sites.site_states import SiteState, find_states
from resources.storage.file_batches import read_files
from resources.storage.files import read_file

_AT_ONCE = 32


def copy_reports(reports: UPath, folder: Path) -> list[str]:
    """Copy all reports from an object store into a folder; gives the names of their benchmarks.

    A report that the folder has is replaced once the new one is whole; pictures that it has are
    taken over. Raises `MissingItem` where no front page was published, and `UnwritableStore`.
    """
    front = find_states(reports).get(reports)
    if front is None:
        raise MissingItem(
            f"No front page lies at {reports}. Materialize reports/front_page or a report first."
        )
    sites = RemoteFront(reports).list_sites()
    with write_errors(folder):
        for site in sites:
            _copy_site(site, folder / site.name)
        files_at_top = read_files([reports / MARK, reports / roster.FILE])
        files = {path.name: data for path, data in files_at_top.items()}
        LocalFront(folder).write(read_pages(front) | files, JUDGE_FOLDERS)
    return [site.name for site in sites]


def _copy_site(site: SiteState, folder: Path) -> None:
    local_site = LocalSite(folder)
    with local_site.build() as build:

        def copy_picture(picture: str) -> None:
            target = build / picture
            if not local_site.take_over(build, picture, _build_check(picture)):
                target.write_bytes(read_file(site.folder / picture))

        pictures = read_pictures(site)
        for name in ("images", "thumbs"):
            (build / name).mkdir()
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(copy_picture, pictures))
        for name, data in read_pages(site).items():
            page = build / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_bytes(data)
        local_site.put_in_place(build)


def _build_check(picture: str) -> Callable[[bytes], bool]:
    """Build the check of whether a picture's bytes are what they were."""
    path = PurePath(picture)
    return partial(has_hash, path.stem) if path.suffix == ".png" else is_whole

"""The garbage collector: removes pictures and calls that no table refers to any more.

A picture stays where its sha256 stands in any cell of any table, in any stored call, or in a
request that waits in a batch; a call where its key stands in a table. Whatever is younger than a
day stays as well: a run may be about to use it.
"""

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select
from upath import UPath

from resources.calls import CallStore
from resources.calls.batch_rows import OPEN_STATES
from resources.calls.call import to_call_row
from resources.calls.database_url import build_database
from resources.calls.sql_tables import SPENDING
from resources.faults import CorruptItem
from resources.storage.atomic_writes import is_remote, remote_errors
from resources.storage.image_store import ImageStore
from resources.storage.parquet_tables import read_table
from resources.storage.work_cache import WorkCache

SECONDS_PER_DAY = 86_400.0
_NOTHING = "It may refer to any picture or answer: nothing was removed."
_REVIEWS = (".csv", ".json")
"""Suffixes of files with people's reviews of pictures."""
_DIGEST = re.compile(r"(?=([0-9a-f]{64}))")
_WRITING = re.compile(
    r"\..+\.(parquet|sqlite|html|csv|json|md|xml|yaml|png)\.[0-9a-f]{32}(-wal|-shm|-journal)?"
)
"""Names under which this project writes files of a data root before they are whole."""
_REPORTS = "report"
"""The folder of all reports, in which each is built beside the one before."""
_BUILDING = re.compile(r"\.[a-z0-9_]+\.[0-9a-f]{32}(\.old)?")
_STORING = re.compile(r"\.[0-9a-f]{64}\.png\.[0-9a-f]{32}")
_PICTURE = re.compile(r".*/[0-9a-f]{2}/([0-9a-f]{64})\.png")


@dataclass(slots=True)
class Waste:
    """Items that nothing refers to; sizes in bytes.

    `images` are by sha256; `calls` are keys, and `call_images` pictures that nothing else
    refers to. `cost` is what those calls cost in billionths of a dollar, as far as it was booked,
    and `unbooked` how many of them were not.
    """

    images: dict[str, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    call_images: dict[str, int] = field(default_factory=dict)
    cost: int = 0
    unbooked: int = 0
    claims: int = 0
    leftovers: dict[Path, int] = field(default_factory=dict)


class GarbageCollector:
    """Looks through a data root and its stores; `remove` takes away what `waste` has found."""

    def __init__(
        self, root: Path, calls: CallStore, images: ImageStore, work_cache: WorkCache
    ) -> None:
        self._root, self._calls, self._images = root, calls, images
        self._work_cache = work_cache
        self._cutoff = time.time() - SECONDS_PER_DAY

    def waste(self) -> Waste:
        """Find what could be removed.

        Raises `CorruptItem` where a table or a call cannot be read.
        """
        named = self._collect_named()
        waste, used_digests, lost_digests = Waste(), named | set(self._find_waiting()), set[str]()
        for call in self._calls.iterate_calls(self._calls.iterate_keys()):
            row = to_call_row(call)
            pictures = {*_digests(row["request"]), *_digests(row["answer"])}
            if call.key in named or call.finished_at.timestamp() >= self._cutoff:
                used_digests |= pictures
            else:
                waste.calls.append(call.key)
                lost_digests |= pictures
        for digest, size in self._old_images():
            if digest not in used_digests:
                (waste.call_images if digest in lost_digests else waste.images)[digest] = size
        waste.cost, waste.unbooked = self._cost(set(waste.calls))
        waste.claims = self._stale_claims()
        waste.leftovers = dict(self._leftovers())
        return waste

    def remove(self, waste: Waste, *, calls: bool) -> None:
        """Remove waste; calls, which were paid for, only if `calls`."""
        pictures = dict(waste.images)
        if calls:
            self._calls.forget(waste.calls)
            pictures |= waste.call_images
        for digest in pictures:
            picture = self._images.path(digest)
            with remote_errors(picture):
                picture.unlink(missing_ok=True)
        self._stale_claims(remove=True)
        for path in waste.leftovers:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _collect_named(self) -> set[str]:
        """Collect the sha256s and keys in all tables and reviews."""
        named = set[str]()
        for path in sorted(self._root.rglob("[!.]*.parquet")):
            asset = path.relative_to(self._root).parent.as_posix()
            try:
                table = read_table(UPath(path), asset)
            except (CorruptItem, OSError) as error:
                raise CorruptItem(f"{error} {_NOTHING}") from error
            for column in table:
                if table[column].dtype.kind not in "biufM":
                    for value in table[column]:
                        named.update(_digests(value))
        for path in sorted((self._root / "reviews").rglob("[!.]*")):
            if path.suffix.lower() in _REVIEWS:
                try:
                    named.update(_digests(path.read_text(encoding="utf-8", errors="replace")))
                except OSError as error:
                    problem = f"{path} cannot be read ({error.strerror}). Restore or remove it."
                    raise CorruptItem(f"{problem} {_NOTHING}") from error
        return named

    def _find_waiting(self) -> Iterator[str]:
        """Yield the sha256s in requests that wait in a batch, which may have to be sent again."""
        batches = self._calls.batches
        for batch in batches.list_by_state(*OPEN_STATES):
            for waiting in batches.iterate_requests(batch.tag):
                yield from _digests(waiting.request)

    def _old_images(self) -> Iterator[tuple[str, int]]:
        """The images that are older than a day, with their sizes."""
        folder = UPath(self._images.root) / "images"
        with remote_errors(folder):
            files: Mapping[str, Any] = folder.fs.find(folder.path, detail=True)
        for name, info in files.items():
            match = _PICTURE.fullmatch(name)
            if match and _modified(info) < self._cutoff:
                yield match[1], int(info["size"])

    def _cost(self, keys: Set[str]) -> tuple[int, int]:
        """The booked cost of calls, and the number of calls without one."""
        paid = select(SPENDING.c.key, func.sum(SPENDING.c.cost)).group_by(SPENDING.c.key)
        paid = paid.where(SPENDING.c.cost.is_not(None))
        with closing(build_database(self._calls.url)) as database:
            rows = database.run(lambda connection, _: connection.execute(paid).all())
        booked = [int(cost) for key, cost in rows if key in keys]
        return sum(booked), len(keys) - len(booked)

    def _stale_claims(self, *, remove: bool = False) -> int:
        """Count claims of processes that ended long ago, or remove them first."""
        age = SECONDS_PER_DAY
        with closing(build_database(self._calls.url)) as database:
            if remove:
                database.run(lambda connection, sql: sql.claims.delete_stale(connection, age))
                self._work_cache.delete_stale_claims(age)
            count = database.run(lambda connection, sql: sql.claims.count_stale(connection, age))
            return count + self._work_cache.count_stale_claims(age)

    def _leftovers(self) -> Iterator[tuple[Path, int]]:
        """Hidden files and folders of processes that were killed while they wrote them.

        Other projects may keep theirs beside the images, or in the data root: what they leave is
        named or placed otherwise, and stays.
        """
        leftovers = {path for path in self._root.rglob(".*") if _is_hashed_file(_WRITING, path)}
        for path in (self._root / _REPORTS).glob(".*"):
            if _BUILDING.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                leftovers.add(path)
        images = UPath(self._images.root)
        if not is_remote(images):
            stored = (Path(images.path) / "images").glob(f"{'[0-9a-f]' * 2}/.*")
            leftovers |= {path for path in stored if _is_hashed_file(_STORING, path)}
        for path in sorted(leftovers):
            if path.lstat().st_mtime < self._cutoff:
                files = path.rglob("*") if path.is_dir() else [path]
                yield path, sum(file.stat().st_size for file in files if file.is_file())


def _is_hashed_file(names: re.Pattern[str], path: Path) -> bool:
    return bool(names.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _digests(value: Any) -> Iterator[str]:
    """Yield sequences of 64 hexadecimal digits in a text, list or mapping."""
    if isinstance(value, str):
        yield from _DIGEST.findall(value)
    elif isinstance(value, Mapping):
        yield from _digests(list(value.values()))
    elif isinstance(value, list | np.ndarray):
        for item in value:
            yield from _digests(item)


def _modified(info: Mapping[str, Any]) -> float:
    """The time when a file was written, by the field of its file system (disk, S3, Google's)."""
    moment = info.get("mtime", info.get("LastModified", info.get("updated")))
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if isinstance(moment, datetime):
        return moment.timestamp()
    # A file without a date has an unknown age: it stays.
    return time.time() if moment is None else float(moment)

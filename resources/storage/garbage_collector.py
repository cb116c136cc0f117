"""The garbage collector: removes pictures and calls that no table refers to any more.

A picture stays where its sha256 stands in any cell of any table, in any stored call, or in a
request that waits in a batch; a call where its key stands in a table. Whatever is younger than a
day stays as well: a run may be about to use it.
"""

import re
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
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
from resources.storage.file_batches import list_infos, remove_files
from resources.storage.files import list_files, open_address, read_file
from resources.storage.image_store import ImageStore
from resources.storage.leftovers import RELEASES, find_leftovers, remove_leftovers
from resources.storage.parquet_tables import read_table
from resources.storage.work_cache import WorkCache

SECONDS_PER_DAY = 86_400.0
_NOTHING = "It may refer to any picture or answer: nothing was removed."
_REVIEWS = (".csv", ".json")
"""Suffixes of files with people's reviews of pictures."""
_DIGEST = re.compile(r"(?=([0-9a-f]{64}))")
_PICTURE = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})\.png")


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
    leftovers: dict[UPath, int] = field(default_factory=dict)


class GarbageCollector:
    """Looks through a data root and its stores; `remove` takes away what `waste` has found."""

    def __init__(
        self, root: UPath, calls: CallStore, images: ImageStore, work_cache: WorkCache
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
        waste.leftovers = find_leftovers(self._root, self._image_folder, self._cutoff)
        return waste

    def remove(self, waste: Waste, *, calls: bool) -> None:
        """Remove waste; calls, which were paid for, only if `calls`."""
        pictures = dict(waste.images)
        if calls:
            self._calls.forget(waste.calls)
            pictures |= waste.call_images
        remove_files(map(self._images.path, pictures))
        self._stale_claims(remove=True)
        remove_leftovers(waste.leftovers)

    @property
    def _image_folder(self) -> UPath:
        return open_address(self._images.root) / "images"

    def _collect_named(self) -> set[str]:
        """Collect the sha256s and keys in all tables and reviews."""
        named = set[str]()
        releases = self._root / RELEASES  # They hold copies of their own.
        files = [file for file in list_files(self._root) if releases not in file.parents]
        for path in (file for file in files if file.suffix == ".parquet"):
            asset = path.relative_to(self._root).parent.as_posix()
            try:
                table = read_table(path, asset)
            except (CorruptItem, OSError) as error:
                raise CorruptItem(f"{error} {_NOTHING}") from error
            for column in table:
                if table[column].dtype.kind not in "biufM":
                    for value in table[column]:
                        named.update(_digests(value))
        for path in files:
            if path.suffix.lower() in _REVIEWS and self._root / "reviews" in path.parents:
                try:
                    named.update(_digests(read_file(path).decode(errors="replace")))
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
        for name, info in list_infos(self._image_folder).items():
            match = _PICTURE.fullmatch(name)
            if match and info.modified_at < self._cutoff:
                yield match[1], info.size

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


def _digests(value: Any) -> Iterator[str]:
    """Yield sequences of 64 hexadecimal digits in a text, list or mapping."""
    if isinstance(value, str):
        yield from _DIGEST.findall(value)
    elif isinstance(value, Mapping):
        yield from _digests(list(value.values()))
    elif isinstance(value, list | np.ndarray):
        for item in value:
            yield from _digests(item)

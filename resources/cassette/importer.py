"""Import of a cassette: all of it is checked before anything is changed."""

from contextlib import suppress
from functools import partial
from typing import NamedTuple

from resources.calls import Call, CallStore, DamagedAnswers
from resources.cassette.archive_reader import Cassette, open_cassette
from resources.execution.workers import map_in_threads
from resources.faults import StoreError
from resources.storage.atomic_writes import FilePath, write_atomically
from resources.storage.files import is_stored, read_file
from resources.storage.image_store import ImageStore
from resources.user_files.spreadsheets import guard_sheet


class ReviewConflict(StoreError):
    """A review file of that name is here already, with other contents."""


class ImportResult(NamedTuple):
    """Counts of an import: the calls of a cassette, and those that are new here.

    `others` are calls that are stored here with another answer, which they keep.
    """

    calls: int
    new: int
    others: int
    pictures: int
    reviews: int


def import_cassette(
    path: FilePath, calls: CallStore, images: ImageStore, reviews: FilePath
) -> ImportResult:
    """Store what a cassette holds: pictures, then review files in the folder `reviews`, then calls.

    What is here already stays, unless it is damaged; a second time changes nothing, and one that
    was broken off goes on. Raises `BadCassette`, or `ReviewConflict` for a review file that is here
    and says something else.
    """
    with open_cassette(path) as cassette:
        cassette.check()
        missing = [
            topic for topic in cassette.topics if not _has_review(cassette, topic, reviews, path)
        ]
        for _ in map_in_threads(partial(_keep, cassette, images), cassette.pictures):
            pass
        for topic in missing:
            write_atomically(_review(reviews, topic), cassette.review(topic))
        new = others = 0
        for chunk in cassette.calls():
            new_keys = _store(calls, chunk)
            new += len(new_keys)
            others += _count_others(calls, [call for call in chunk if call.key not in new_keys])
        call_count = cassette.manifest.calls
    return ImportResult(
        calls=call_count,
        new=new,
        others=others,
        pictures=len(cassette.pictures),
        reviews=len(missing),
    )


def _keep(cassette: Cassette, images: ImageStore, digest: str) -> None:
    images.put(cassette.picture(digest))


def _store(calls: CallStore, calls_to_store: list[Call]) -> set[str]:
    """Store calls, also in place of damaged ones; returns the keys of new ones."""
    new_keys = calls.keep(calls_to_store)
    try:
        calls.find_calls(call.key for call in calls_to_store)
    except DamagedAnswers as damaged:
        calls.forget(damaged.keys)
        new_keys |= calls.keep([call for call in calls_to_store if call.key not in new_keys])
    return new_keys


def _count_others(calls: CallStore, imported_calls: list[Call]) -> int:
    stored = calls.find_calls(call.key for call in imported_calls)
    return sum(stored[call.key].answer != call.answer for call in imported_calls)


def _has_review(cassette: Cassette, topic: str, reviews: FilePath, path: FilePath) -> bool:
    """True where the review file is here; raises `ReviewConflict` where another one is."""
    here = _review(reviews, topic)
    if not is_stored(here):
        return False
    if cassette.review(topic) not in (mine := read_file(here), _guard(mine)):
        raise ReviewConflict(
            f"{here} is another review than the one in {path}: pictures accepted in one may not be "
            "in the other. Move yours away to take that one; nothing was imported."
        )
    return True


def _guard(sheet: bytes) -> bytes:
    with suppress(ValueError):
        return guard_sheet(sheet)
    return sheet


def _review(reviews: FilePath, topic: str) -> FilePath:
    return reviews / f"{topic}.csv"

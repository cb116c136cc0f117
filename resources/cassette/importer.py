"""Import of a cassette: all of it is checked before anything is changed."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from upath import UPath

from resources.calls import Call, CallStore, DamagedAnswers
from resources.cassette.archive_reader import Cassette, open_cassette
from resources.execution.workers import map_in_threads
from resources.faults import StoreError
from resources.storage.atomic_writes import write_atomically
from resources.storage.image_store import ImageStore
from resources.user_files.spreadsheets import guarded_sheet


class ReviewConflict(StoreError):
    """There is something of that name here already, with other contents."""


class ImportResult(NamedTuple):
    """What came of a cassette: how many calls it holds and how many of them are new here.

    `others` are calls that are stored here with another answer, which they keep.
    """

    calls: int
    new: int
    others: int
    pictures: int
    reviews: int


def import_cassette(
    path: Path, calls: CallStore, images: ImageStore, reviews: Path
) -> ImportResult:
    """Store what a cassette holds: pictures, then review files in the folder `reviews`, then calls.

    What is here already stays, unless it is damaged; a second time changes nothing, and one that
    was broken off goes on. Raises `BadCassette`, or `Differs` for a review file that is here and
    says something else.
    """
    with open_cassette(path) as cassette:
        cassette.check()
        missing = [topic for topic in cassette.topics if not _same(cassette, topic, reviews, path)]
        for _ in map_in_threads(partial(_keep, cassette, images), cassette.pictures):
            pass
        for topic in missing:
            write_atomically(UPath(_review(reviews, topic)), cassette.review(topic))
        new = others = 0
        for some in cassette.calls():
            kept = _kept(calls, some)
            new += len(kept)
            others += _others(calls, [call for call in some if call.key not in kept])
        held = cassette.manifest.calls
    return ImportResult(held, new, others, len(cassette.pictures), len(missing))


def _keep(cassette: Cassette, images: ImageStore, digest: str) -> None:
    images.put(cassette.picture(digest))


def _kept(calls: CallStore, given: list[Call]) -> set[str]:
    """Store calls, also in the place of those that are damaged; the keys of those that are new."""
    kept = calls.keep(given)
    try:
        calls.known(call.key for call in given)
    except DamagedAnswers as damaged:
        calls.forget(damaged.keys)
        kept |= calls.keep([call for call in given if call.key not in kept])
    return kept


def _others(calls: CallStore, given: list[Call]) -> int:
    stored = calls.known(call.key for call in given)
    return sum(stored[call.key].answer != call.answer for call in given)


def _same(cassette: Cassette, topic: str, reviews: Path, path: Path) -> bool:
    """Whether the review file is here; raises `Differs` where another one is."""
    here = _review(reviews, topic)
    if not here.exists():
        return False
    if cassette.review(topic) not in (mine := here.read_bytes(), _guarded(mine)):
        raise ReviewConflict(
            f"{here} is another review than the one in {path}: pictures accepted in one may not be "
            "in the other. Move yours away to take that one; nothing was imported."
        )
    return True


def _guarded(sheet: bytes) -> bytes:
    with suppress(ValueError):
        return guarded_sheet(sheet)
    return sheet


def _review(reviews: Path, topic: str) -> Path:
    return reviews / f"{topic}.csv"

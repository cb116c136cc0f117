"""Storing what code draws: what is recorded is on the disk, whatever ends the work."""

import signal

import pytest
from PIL import Image

from assets.kit import pictures
from assets.kit.pictures import compute_missing, draw_missing_pictures, store_pictures
from generators.tiles import encode_png
from resources.faults import DiskFull
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

MANY, AT_ONCE = 23, 4


def picture(level):
    return encode_png(Image.new("RGB", (2, 2), (level, 0, 0)))


def drawn(until=MANY):
    for number in range(MANY):
        if number == until:
            raise ValueError("this one cannot be drawn")
        yield str(number), picture(number)


@pytest.fixture
def stores(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "_RECORDED_AT_ONCE", AT_ONCE)
    return ImageStore(root=str(tmp_path)), WorkCache(root=str(tmp_path))


def recorded(images, work_cache):
    """What is recorded, each of which has to be there."""
    known = work_cache.find_results(map(str, range(MANY)))
    for key, digest in known.items():
        assert images.get(digest) == picture(int(key))
    return set(map(int, known))


def test_all_are_stored_and_recorded_some_at_a_time(stores):
    some = list(store_pictures(drawn(), *stores))
    assert [len(each) for each in some] == [AT_ONCE] * 5 + [3]
    assert recorded(*stores) == set(range(MANY))


def test_what_is_drawn_before_one_that_cannot_be_is_recorded(stores):
    with pytest.raises(ValueError, match="cannot be drawn"):
        list(store_pictures(drawn(until=10), *stores))
    assert recorded(*stores) == set(range(10))


def test_what_was_handed_on_before_the_caller_ends_it_is_recorded(stores):
    some = store_pictures(drawn(), *stores)
    assert set(next(some)) == {"0", "1", "2", "3"}
    some.close()
    assert recorded(*stores) == set(range(AT_ONCE))


class FillingUp(ImageStore):
    """A store that has no room for one picture."""

    def put(self, png):
        if png == picture(5):
            raise DiskFull("No space is left.")
        return super().put(png)


def test_one_that_cannot_be_stored_ends_it_and_the_others_of_that_time_are_recorded(stores):
    images, work_cache = stores
    with pytest.raises(DiskFull, match="No space"):
        list(store_pictures(drawn(), FillingUp(root=images.root), work_cache))
    assert recorded(images, work_cache) == {0, 1, 2, 3, 4, 6, 7}


KILLED = """
import os, signal, sys
from assets.kit import pictures
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.kit.test_pictures import AT_ONCE, drawn, picture

class Killed(ImageStore):
    def put(self, png):
        digest = super().put(png)
        if png == picture(10):
            os.kill(os.getpid(), signal.SIGKILL)
        return digest

pictures._RECORDED_AT_ONCE = AT_ONCE
list(pictures.store_pictures(drawn(), Killed(root=sys.argv[1]), WorkCache(root=sys.argv[1])))
"""


def test_a_kill_loses_nothing_that_was_recorded(stores, forks):
    images, work_cache = stores
    killed = forks.run("-c", KILLED, images.root)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert recorded(images, work_cache) == set(range(2 * AT_ONCE))
    done = draw_missing_pictures(
        {number: str(number) for number in range(MANY)}, int, picture, images, work_cache
    )
    assert {number: images.get(digest) for number, digest in done.items()} == {
        number: picture(number) for number in range(MANY)
    }


def test_no_more_pictures_are_held_than_are_recorded_at_once(stores):
    images, work_cache = stores
    taken, ended = [], []

    def counted():
        for key, png in drawn():
            taken.append(key)
            assert len(taken) - len(ended) <= AT_ONCE
            yield key, png

    for some in store_pictures(counted(), images, work_cache):
        ended.extend(some)
    assert ended == taken


def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def test_what_is_worked_out_is_recorded_some_at_a_time(stores, monkeypatch):
    commits, record = [], WorkCache.record

    def counted(work_cache, results):
        commits.extend([len(results)] if results else [])
        record(work_cache, results)

    monkeypatch.setattr(WorkCache, "record", counted)
    works = {number: str(number) for number in range(0, 20, 2)}
    for _ in range(2):
        found = compute_missing(works, int, half, stores[1])
        assert found == {number: number // 2 for number in works}
        assert commits == [AT_ONCE, AT_ONCE, 2]


def test_what_was_worked_out_before_an_error_is_recorded(stores):
    works = {number: str(number) for number in (4, 6, 7)}
    with pytest.raises(ValueError, match="7 is odd"):
        compute_missing(works, int, half, stores[1])
    assert stores[1].find_results(works.values()) == {"4": 2, "6": 3}

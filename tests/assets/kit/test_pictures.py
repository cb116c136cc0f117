"""Storing what code draws: what is recorded is on the disk, whatever ends the work."""

import signal
import threading
from types import SimpleNamespace

import pytest
from PIL import Image

from assets.kit.pictures import compute_missing, draw_missing_pictures
from generators.tiles import encode_png
from resources.execution import work_loop
from resources.execution.workers import find_workers
from resources.faults import DiskFull
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.storage.work_claims import WorkClaims

MANY, AT_ONCE = 23, 4
WORKS = {number: str(number) for number in range(MANY)}


def picture(level):
    return encode_png(Image.new("RGB", (2, 2), (level, 0, 0)))


def picture_before_ten(level):
    if level == 10:
        raise ValueError("this one cannot be drawn")
    return picture(level)


@pytest.fixture
def stores(tmp_path, monkeypatch):
    monkeypatch.setattr(work_loop, "_FIRST_CHUNK", AT_ONCE)
    monkeypatch.setattr(work_loop, "_LARGEST_CHUNK", AT_ONCE)
    return ImageStore(root=str(tmp_path)), WorkCache(root=str(tmp_path))


@pytest.fixture
def commits(monkeypatch):
    """How many results each commit records."""
    commits, record = [], WorkClaims.record

    def counted(claims, results):
        commits.extend([len(results)] if results else [])
        record(claims, results)

    monkeypatch.setattr(WorkClaims, "record", counted)
    monkeypatch.setattr(work_loop, "_QUICK_S", float("inf"))
    return commits


def recorded(images, work_cache):
    """What is recorded, each of which has to be there, and no claim on any."""
    known = work_cache.find_results(WORKS.values())
    for key, digest in known.items():
        assert images.get(digest) == picture(int(key))
    assert work_cache.count_stale_claims(-3600) == 0
    return set(map(int, known))


def test_all_are_stored_and_recorded_some_at_a_time(stores, commits):
    drawn = draw_missing_pictures(WORKS, int, picture, *stores)
    assert commits == [AT_ONCE] * 5 + [3]
    assert recorded(*stores) == set(WORKS)
    assert (drawn.done, drawn.lost) == (MANY, 0)
    assert list(drawn.results) == list(WORKS)
    assert draw_missing_pictures(WORKS, int, picture, *stores).done == 0


def test_what_is_drawn_before_one_that_cannot_be_is_recorded(stores):
    with pytest.raises(ValueError, match="cannot be drawn"):
        draw_missing_pictures(WORKS, int, picture_before_ten, *stores)
    assert recorded(*stores) == set(range(10))


def load_before_ten(number):
    if number == 10:
        raise ValueError("this one cannot be loaded")
    return number


def test_what_is_before_one_that_cannot_be_loaded_is_recorded(stores):
    with pytest.raises(ValueError, match="cannot be loaded"):
        draw_missing_pictures(WORKS, load_before_ten, picture, *stores)
    assert recorded(*stores) == set(range(10))


class FillingUp(ImageStore):
    """A store that has no room for one picture."""

    def put(self, png):
        if png == picture(5):
            raise DiskFull("No space is left.")
        return super().put(png)


def test_one_that_cannot_be_stored_ends_it_and_what_was_before_is_recorded(stores):
    images, work_cache = stores
    with pytest.raises(DiskFull, match="No space"):
        draw_missing_pictures(WORKS, int, picture, FillingUp(root=images.root), work_cache)
    assert recorded(images, work_cache) == set(range(5))


KILLED = """
import os, signal, sys
from resources.execution import work_loop
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.kit.test_pictures import AT_ONCE, WORKS, picture
from assets.kit.pictures import draw_missing_pictures
from resources.storage import work_claims

class Killed(ImageStore):
    def put(self, png):
        digest = super().put(png)
        if png == picture(20):
            os.kill(os.getpid(), signal.SIGKILL)
        return digest

work_claims.LEASE_S = 1.0
work_loop._FIRST_CHUNK = work_loop._LARGEST_CHUNK = AT_ONCE
draw_missing_pictures(WORKS, int, picture, Killed(root=sys.argv[1]), WorkCache(root=sys.argv[1]))
"""


def test_a_kill_loses_nothing_that_was_recorded_and_its_claims_end(stores, forks, monkeypatch):
    images, work_cache = stores
    monkeypatch.setattr("resources.storage.work_claims.LEASE_S", 1.0)
    killed = forks.run(
        "-c", f"import resources.storage.work_claims as c; c.LEASE_S = 1.0\n{KILLED}", images.root
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    kept = work_cache.find_results(WORKS.values())
    # Of the pictures that are stored eight at most wait to be recorded.
    assert len(kept) >= 20 - 8 - AT_ONCE
    done = draw_missing_pictures(WORKS, int, picture, images, work_cache)
    assert done.done == MANY - len(kept)
    assert recorded(images, work_cache) == set(WORKS)


def test_a_picture_that_is_damaged_is_drawn_again(stores, caplog):
    images, work_cache = stores
    first = draw_missing_pictures(WORKS, int, picture, images, work_cache)
    damaged, lost = images.path(first.results[3]), images.path(first.results[7])
    damaged.write_bytes(b"x")
    lost.unlink()
    again = draw_missing_pictures(WORKS, int, picture, images, work_cache)
    assert (again.done, again.lost, again.results) == (2, 2, first.results)
    assert f"{damaged} is missing or damaged" in caplog.text
    assert recorded(*stores) == set(WORKS)


def test_no_more_is_held_than_is_worked_on(stores, monkeypatch):
    """Inputs are loaded, and pictures stored, a few ahead of what is recorded."""
    monkeypatch.setattr("resources.execution.workers._PREFETCHED", 1)
    images, work_cache = stores
    loaded, ended, most, lock = [], [], [], threading.Lock()

    class Counting(ImageStore):
        def put(self, png):
            with lock:
                ended.append(png)
            return super().put(png)

    def load(number):
        with lock:
            loaded.append(number)
            most.append(len(loaded) - len(ended))
        return number % 256

    works = {number: f"many {number}" for number in range(200)}
    draw_missing_pictures(works, load, picture, Counting(root=images.root), work_cache)
    assert len(ended) == len(loaded) == 200
    assert max(most) <= 8 + find_workers().count + 8


def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def test_what_is_worked_out_is_recorded_some_at_a_time(stores, commits):
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


def test_quick_work_is_recorded_in_larger_chunks(stores, commits, monkeypatch):
    monkeypatch.setattr(work_loop, "_LARGEST_CHUNK", 16)
    works = {number: str(number) for number in range(0, 200, 2)}
    compute_missing(works, int, half, stores[1])
    assert commits[:3] == [4, 8, 16]
    assert sum(commits) == 100


def test_slow_work_is_recorded_before_a_chunk_is_full(stores, commits, monkeypatch):
    monkeypatch.setattr(work_loop, "_QUICK_S", 0.0)
    compute_missing({number: str(number) for number in range(0, 12, 2)}, int, half, stores[1])
    assert commits == [1] * 6


@pytest.mark.parametrize(
    ("total", "workers", "chunk"), [(50, None, 50), (51, 2, 50), (51, 300, 300), (51, 5000, 1000)]
)
def test_the_first_chunk_has_an_item_for_each_worker(monkeypatch, total, workers, chunk):
    monkeypatch.setattr(work_loop, "find_workers", lambda: SimpleNamespace(count=workers))
    assert work_loop.WorkKind(load=int, work=half).choose_chunk(total) == chunk


def test_what_another_process_works_on_is_waited_for_and_not_done_twice(stores):
    images, work_cache = stores
    others = WorkCache(root=work_cache.root).open_claims()
    assert others.take({"1", "2", "9"}).keys == {"1", "2", "9"}

    def finish_later():
        others.record({key: images.put(picture(int(key))) for key in ("1", "2")})
        others.close()

    timer = threading.Timer(0.5, finish_later)
    timer.start()
    drawn = draw_missing_pictures(WORKS, int, picture, images, work_cache)
    timer.join()
    # The other gave one of its claims up: that is done here.
    assert drawn.done == MANY - 2
    assert list(drawn.results) == list(WORKS)
    assert recorded(*stores) == set(WORKS)

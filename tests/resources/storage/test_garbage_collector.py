"""The collector takes what nothing refers to, and nothing else."""

import io
import os
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from assets.report.openings import Entry
from assets.report.publish import Site, publish
from assets.report.start_page import write_start_page
from resources.calls import CallStore
from resources.calls.batch_rows import Batch, WaitingRequest
from resources.calls.database_url import build_database
from resources.calls.spending import Account, Booking, generate_booking_id
from resources.calls.sql_tables import CLAIMS
from resources.faults import CorruptItem
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import fetch, open_address, read_file
from resources.storage.garbage_collector import SECONDS_PER_DAY, GarbageCollector
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.resources.cassette.cassettes import looked, painted, png_of

LONG_AGO = time.time() - 2 * SECONDS_PER_DAY


class Store:
    """A data root, and how old what it holds is."""

    def __init__(self, root, images=None):
        self.root = root
        self.calls = CallStore(url=f"sqlite:///{root}/calls.sqlite")
        self.images = ImageStore(root=images or str(root))
        self.work_cache = WorkCache(root=str(root))

    def image(self, number, age=LONG_AGO):
        digest = self.images.put(png_of(number))
        os.utime(self.images.path(digest), (age, age))
        return digest

    def table(self, name="vlmbias/answers_somebody/flags", **columns):
        path = self.root / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
        return path

    def paints(self, number):
        """A stored call with its picture, both old."""
        call = painted(number, self.images)
        (digest,) = call.answer["images"]
        os.utime(self.images.path(digest), (LONG_AGO, LONG_AGO))
        self.calls.keep([call])
        return call.key, digest

    def collector(self):
        return GarbageCollector(self.root, self.calls, self.images, self.work_cache)

    def waste(self):
        return self.collector().waste()

    def collect(self, calls=False):
        collector = self.collector()
        collector.remove(collector.waste(), calls=calls)

    def digests(self):
        return {path.stem for path in self.root.rglob("*.png")}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.calls.keep([])
    yield store
    store.calls.close()


def test_only_pictures_that_nothing_refers_to_go(store):
    cell, listed, told, in_text = (store.image(number) for number in range(4))
    shown_to_judge, reviewed, new, unused = (store.image(number) for number in range(4, 8))
    in_sheet, in_export = (store.image(number) for number in range(8, 10))
    os.utime(store.images.path(new))
    store.table(sha256=[cell, None], shown=[told, told], size=[384, 768])
    store.table("release/vlmbias/data/main/test", sha256=[unused])
    store.table("other/table", lists=[[listed], []], settings=["{}", f'{{"of": "{in_text}"}}'])
    store.calls.keep([looked(1, picture=shown_to_judge)])
    (store.root / "reviews").mkdir()
    (store.root / "reviews" / "animals.csv").write_text(f"sha256,decision\n{reviewed},accepted\n")
    scored = store.root / "reviews" / "protobias" / "somebody"
    scored.mkdir(parents=True)
    (scored / "anna.csv").write_text(f"image,score\n{in_sheet},4\n")
    (scored / "export.json").write_text(f'[{{"data": {{"sha256": "{in_export}"}}}}]')
    found = store.waste()
    assert found.images == {unused: len(png_of(7))}
    assert unused in store.digests()
    store.collect()
    kept = {cell, listed, told, in_text, shown_to_judge, reviewed, in_sheet, in_export, new}
    assert store.digests() == kept
    store.collect(calls=True)
    assert store.digests() == kept - {shown_to_judge}


def test_what_was_paid_for_goes_only_where_that_is_said(store):
    named, picture = store.paints(1)
    lost, picture_of_lost = store.paints(2)
    young = replace(looked(3), finished_at=datetime.now(UTC))
    store.calls.keep([young])
    store.table(calls=[[named]])
    found = store.waste()
    assert found.calls == [lost]
    assert found.images == {}
    assert set(found.call_images) == {picture_of_lost}
    store.collect()
    assert set(store.calls.iterate_keys()) == {named, lost, young.key}
    assert store.digests() == {picture, picture_of_lost}
    store.collect(calls=True)
    assert set(store.calls.iterate_keys()) == {named, young.key}
    assert store.digests() == {picture}


def test_a_picture_of_a_lost_call_stays_where_another_needs_it(store):
    _, digest = store.paints(1)
    asked = looked(2, picture=digest)
    store.calls.keep([asked])
    store.table(calls=[[asked.key]])
    assert store.waste().call_images == {}
    store.collect(calls=True)
    assert store.digests() == {digest}


def test_a_picture_that_waits_in_a_batch_stays(store):
    shown = store.image(1)
    request = looked(1, picture=shown).request
    moment = datetime.now(UTC)
    batch = Batch("tag", "m", "{}", "a", "p", "r", {}, requests=1, submitted_at=moment)
    store.calls.batches.create(batch, [WaitingRequest("key", request, "booking")], "me", 60)
    assert store.waste().images == {}
    store.calls.batches.discard("tag", "me")
    assert set(store.waste().images) == {shown}


def test_what_lost_calls_cost_is_as_it_was_booked(store):
    paid, free = looked(1), looked(2)
    store.calls.keep([paid, free])
    booking = Booking(
        generate_booking_id(), paid.key, Account("a", "p", "r"), "m", "online", "2026-03", 500
    )
    store.calls.reserve([booking])
    store.calls.settle({booking.id: 123})
    found = store.waste()
    assert (found.cost, found.unbooked) == (123, 1)


def test_a_table_that_cannot_be_read_stops_it(store):
    store.image(1)
    path = store.table(sha256=["x"])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorruptItem, match=r"flags.parquet cannot be read.*nothing was removed"):
        store.waste()
    assert len(store.digests()) == 1


def test_a_link_to_nothing_stops_it(store):
    store.image(1)
    link = store.root / "reviews" / "animals.csv"
    link.parent.mkdir()
    link.symlink_to(store.root / "nowhere.csv")
    with pytest.raises(CorruptItem, match=r"animals\.csv cannot be read.*nothing was removed"):
        store.waste()


def claim(store, key, seconds):
    with closing(build_database(store.calls.url)) as database:
        database.run(
            lambda connection, sql: sql.claims.claim(connection, [key], "someone", seconds)
        )


def claim_work(store, key, seconds):
    run = store.work_cache._database.run
    run(lambda connection, sql: sql.claims.claim(connection, [key], "someone", seconds))


def test_claims_and_files_of_the_dead_go(store):
    claim(store, "a" * 64, -2 * SECONDS_PER_DAY)
    claim(store, "b" * 64, 20)
    claim(store, "c" * 64, -60)
    for key, seconds in (("a" * 64, -2 * SECONDS_PER_DAY), ("b" * 64, 20)):
        claim_work(store, key, seconds)
    name = f".x.parquet.{'0' * 32}"
    for path, age in (
        (store.root / "vlmbias" / name, LONG_AGO),
        (store.root / "images" / "ab" / f".{'a' * 64}.png.{'1' * 32}", LONG_AGO),
        (store.root / f".answers.cassette.{'5' * 32}", LONG_AGO),
        (store.root / "new" / name, time.time()),
        (store.root / "vlmbias" / ".hidden", LONG_AGO),
        (store.root / f".calls.sqlite.{'2' * 32}-wal", LONG_AGO),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12")
        os.utime(path, (age, age))
    for group in ("report", "release"):
        folder = store.root / group / f".vlmbias.{'3' * 32}"
        (folder / "images").mkdir(parents=True)
        (folder / "images" / "x.png").write_bytes(b"123")
        os.utime(folder, (LONG_AGO, LONG_AGO))
    found = store.waste()
    assert found.claims == 2
    assert sum(found.leftovers.values()) == 14
    assert len(found.leftovers) == 6
    store.collect()
    left = {path.name for path in store.root.rglob(".*")}
    assert left == {name, ".hidden"}
    assert store.waste().claims == 0
    with closing(build_database(store.calls.url)) as database:
        rows = database.run(lambda connection, _: connection.execute(select(CLAIMS.c.key)).all())
    assert {row.key[0] for row in rows} == {"b", "c"}


def test_what_other_projects_leave_beside_the_images_stays(tmp_path):
    shared = tmp_path / "shared"
    store = Store(tmp_path / "data", images=str(shared))
    theirs = [
        shared / f".name.{'4' * 32}" / "file",
        shared / f".x.parquet.{'4' * 32}",
        shared / "images" / f".cat.png.{'4' * 32}",
        shared / "images" / "ab" / f".cat.png.{'4' * 32}",
        store.root / f".report.{'4' * 32}" / "index.html",
        store.root / "vlmbias" / f".name.{'4' * 32}" / "file",
    ]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12")
        for each in (path, path.parent):
            os.utime(each, (LONG_AGO, LONG_AGO))
    (store.root / f".gone.csv.{'5' * 32}").symlink_to(tmp_path / "nowhere")
    store.calls.keep([])
    store.collect()
    store.calls.close()
    assert all(path.exists() for path in theirs)


def test_pictures_in_an_object_store_go_as_well(s3, tmp_path, monkeypatch):
    store = Store(tmp_path, images="s3://pictures/here")
    used, unused = (store.images.put(png_of(number)) for number in (1, 2))
    s3.put_object(Bucket="pictures", Key=f"here/images/ab/{'c' * 64}.txt", Body=b"not ours")
    store.table(sha256=[used])
    assert store.waste().images == {}
    monkeypatch.setattr("resources.storage.garbage_collector.SECONDS_PER_DAY", -SECONDS_PER_DAY)
    assert store.waste().images == {unused: len(png_of(2))}
    store.collect()
    left = {item["Key"] for item in s3.list_objects_v2(Bucket="pictures")["Contents"]}
    assert left == {f"here/images/{used[:2]}/{used}.png", f"here/images/ab/{'c' * 64}.txt"}
    store.calls.close()


@pytest.mark.slow
def test_of_a_data_root_in_an_object_store_only_waste_goes(s3, tmp_path, monkeypatch):
    root = open_address("s3://pictures/home")
    calls, images = CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite"), ImageStore(root=str(root))
    calls.keep([])
    in_table, in_review, unused = (images.put(png_of(number)) for number in range(3))
    table = io.BytesIO()
    pq.write_table(pa.table({"sha256": [in_table]}), table)
    write_atomically(root / "vlmbias" / "images" / "flags.parquet", table.getvalue())
    write_atomically(root / "reviews" / "animals.csv", f"sha256\n{in_review}\n".encode())
    write_atomically(root / "images" / f".probe.{'0' * 32}", b"")
    write_atomically(root / "other" / f".probe.{'0' * 32}", b"of another project")
    for text in ("first", "second"):
        site = Site(
            Entry("Zoo", "does it look?", text, "result"),
            [("index.html", f'<a href="images/{in_table}.png">{text}</a>')],
            [in_table] if text == "second" else [in_table, in_review],
            [],
        )
        publish(root / "report" / "zoo", site, images.get)
        write_start_page(root / "report")
    fetched = fetch(root / "reviews")
    collector = GarbageCollector(root, calls, images, WorkCache(root=str(tmp_path)))
    assert collector.waste().images == {}
    assert collector.waste().leftovers == {}

    def find_names():
        listed = s3.list_objects_v2(Bucket="pictures")["Contents"]
        return {item["Key"].removeprefix("home/") for item in listed}

    before, now = find_names(), time.time
    monkeypatch.setattr("time.time", lambda: now() + 2 * SECONDS_PER_DAY)
    later = GarbageCollector(root, calls, images, WorkCache(root=str(tmp_path)))
    later.remove(later.waste(), calls=False)
    gone = before - find_names()
    assert not fetched.exists()
    (state,) = {name.split("/")[3] for name in gone if name.startswith("report/zoo/states/")}
    assert b"first" not in read_file(root / "report" / "zoo" / "index.html")
    assert {name for name in gone if "states" not in name} == {
        f"images/{unused[:2]}/{unused}.png",
        f"images/.probe.{'0' * 32}",
        f"report/zoo/images/{in_review}.png",
    }
    assert f"report/zoo/states/{state}/index.html" in gone
    assert len({name.split("/")[2] for name in gone if name.startswith("report/states/")}) == 1
    calls.close()

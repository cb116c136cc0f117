"""The image store on a real S3 endpoint, on loopback."""

import sys
import tempfile
from hashlib import sha256
from importlib import import_module
from threading import Event, Thread
from time import sleep

import pytest
import s3fs
from upath import UPath

from assets.kit.pictures import draw_missing_pictures
from resources.faults import (
    AccessDenied,
    MissingItem,
    UnreachableStore,
    UnusableStore,
    UnwritableStore,
)
from resources.storage import atomic_writes
from resources.storage.atomic_writes import write_atomically
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
DIGEST = sha256(PNG).hexdigest()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(atomic_writes, "PATIENCE_S", 0.0)


def objects(client):
    found = client.list_objects_v2(Bucket="pictures").get("Contents", [])
    return {item["Key"]: item["LastModified"] for item in found}


def test_an_image_is_one_object_written_once(s3):
    store = ImageStore(root="s3://pictures/here")
    assert store.put(PNG) == DIGEST
    before = objects(s3)
    assert set(before) == {f"here/images/{DIGEST[:2]}/{DIGEST}.png"}
    assert store.put(PNG) == DIGEST
    assert objects(s3) == before
    assert ImageStore(root="s3://pictures/here").get(DIGEST) == PNG


def test_of_two_that_write_at_once_the_first_stays(s3):
    """The second looks nothing up before it writes, and is refused by the store."""
    store = ImageStore(root="s3://pictures/here")
    name = f"here/images/{DIGEST[:2]}/{DIGEST}.png"
    s3.put_object(Bucket="pictures", Key=name, Body=PNG, Metadata={"by": "the first"})
    assert store.put(PNG) == DIGEST
    assert s3.head_object(Bucket="pictures", Key=name)["Metadata"] == {"by": "the first"}


def test_a_damaged_object_heals_and_a_missing_one_is_named(s3):
    store = ImageStore(root="s3://pictures/here")
    with pytest.raises(MissingItem, match=f"s3://pictures/here.*{DIGEST}.*is gone"):
        store.get(DIGEST)
    store.put(PNG)
    name = f"here/images/{DIGEST[:2]}/{DIGEST}.png"
    s3.put_object(Bucket="pictures", Key=name, Body=PNG[:-1])
    assert not store.holds(DIGEST)
    store.put(PNG)
    assert store.get(DIGEST) == PNG


def test_a_bucket_that_is_not_there_is_named(s3):
    with pytest.raises(
        UnwritableStore, match=r"s3://nowhere.*does not exist.*COUNTERFACTORY_IMAGES"
    ):
        ImageStore(root="s3://nowhere/here").put(PNG)


@pytest.mark.usefixtures("impatient")
def test_room_is_asked_for_by_an_object_that_goes_again(s3, monkeypatch):
    store = ImageStore(root="s3://pictures/here")
    store.reserve(10**12).release()
    assert objects(s3) == {}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(UnreachableStore, match=r"s3://pictures/here.*COUNTERFACTORY_IMAGES"):
        ImageStore(root="s3://pictures/here").reserve(1)


@pytest.mark.usefixtures("impatient")
def test_a_store_that_does_not_answer_is_named(s3, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(UnreachableStore, match=r"s3://pictures/here.*COUNTERFACTORY_IMAGES"):
        ImageStore(root="s3://pictures/here").get(DIGEST)


def test_credentials_that_may_not_read_are_named(s3, monkeypatch):
    def forbidden(self, *args, **kwargs):
        raise PermissionError("Access Denied")

    monkeypatch.setattr(s3fs.S3FileSystem, "cat_file", forbidden)
    with pytest.raises(AccessDenied, match="Access Denied"):
        ImageStore(root="s3://pictures/here").get(DIGEST)


def number_png(number):
    return b"\x89PNG\r\n\x1a\n" + bytes([number + 1]) * 100


@pytest.mark.usefixtures("s3")
def test_the_bytes_of_files_are_looked_up_without_reading_them(s3_server):
    store = ImageStore(root="s3://pictures/here")
    digests = [store.put(number_png(number)) for number in range(3)]
    s3_server.requests.clear()
    assert store.file_sizes([*digests, "0" * 64]) == dict.fromkeys(digests, 108)
    assert "GET" not in s3_server.requests[:3]


@pytest.mark.usefixtures("s3")
def test_a_picture_takes_a_request_to_write_and_one_to_read(s3_server, monkeypatch, tmp_path):
    store, requests = ImageStore(root="s3://pictures/here"), s3_server.requests
    digests = [store.put(number_png(number)) for number in range(9)]
    assert requests == ["PUT"] * 9
    requests.clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    other = ImageStore(root="s3://pictures/here")
    assert other.sizes(digests).keys() == {*digests}
    for _ in range(2):
        assert [other.get(digest) for digest in digests] == [number_png(n) for n in range(9)]
    assert requests == ["GET"] * 18
    requests.clear()
    assert [store.get(digest) for digest in digests] == [number_png(n) for n in range(9)]
    assert store.sizes(digests) == other.sizes(digests)
    assert requests == []
    assert store.find_damaged(digests) == set()
    assert requests == ["GET"] * 9
    requests.clear()
    store.put(number_png(0))
    assert requests == ["PUT", "GET"]


def test_many_are_looked_up_by_a_list_of_their_folder_as_it_is_then(s3, s3_server):
    store = ImageStore(root="s3://pictures/here")
    digests = [f"{folder:02x}{number:062}" for folder in range(2) for number in range(50)]
    few = [f"ff{number:062}" for number in range(3)]
    for digest in (digests[0], digests[60], few[0]):
        for expected in (True, False):
            assert (digest in store.find_missing(digests + few)) is expected
            s3.put_object(Bucket="pictures", Key=f"here/images/{digest[:2]}/{digest}.png", Body=b"")
    s3_server.requests.clear()
    assert len(store.find_missing(digests + few)) == 100
    assert sorted(request[:4] for request in s3_server.requests) == [*["GET"] * 3, "LIST", "LIST"]


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_without_the_right_to_list_pictures_are_kept_and_read(s3_server, tmp_path):
    s3_server.refuses = lambda method, query: "list-type" in query or method == "HEAD"
    store, work_cache = ImageStore(root="s3://pictures/here"), WorkCache(root=str(tmp_path))
    for _ in range(2):
        digests = draw_missing_pictures(
            {n: f"{n}" for n in range(9)}, int, number_png, store, work_cache
        ).results
        assert [store.get(digests[n]) for n in range(9)] == [number_png(n) for n in range(9)]
    assert store.find_missing(digests.values()) == set()


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_a_store_may_be_away_while_pictures_are_drawn(s3_server, tmp_path, monkeypatch):
    """Longer than the client of the store itself waits: here 2 s, as it tries once, else 11 s."""
    monkeypatch.setattr(atomic_writes, "RETRY_S", 0.05)
    away, begun = Event(), Event()

    def interrupt():
        begun.wait(60)
        s3_server.stop()
        away.set()
        sleep(5)
        s3_server.start()

    def begin_work(number):
        if number == 20:
            begun.set()
            away.wait(60)
        return number

    store, work_cache = ImageStore(root="s3://pictures/here"), WorkCache(root=str(tmp_path))
    interruption = Thread(target=interrupt)
    interruption.start()
    digests = draw_missing_pictures(
        {n: f"{n}" for n in range(60)}, begin_work, number_png, store, work_cache
    ).results
    interruption.join()
    assert [store.get(digests[n]) for n in range(60)] == [number_png(n) for n in range(60)]


def test_a_store_that_stays_away_is_given_up_after_a_minute(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(atomic_writes, "monotonic", lambda: clock[0])
    monkeypatch.setattr(atomic_writes, "sleep", lambda seconds: clock.append(clock.pop() + seconds))

    def refuse():
        raise ConnectionRefusedError("refused")

    with pytest.raises(UnreachableStore, match="refused"):
        atomic_writes.reach(UPath("s3://pictures/here"), refuse)
    assert clock == [60.0]


@pytest.mark.parametrize(
    ("address", "package", "remedy"),
    [
        ("s3://pictures/here", "s3fs", "s3fs is missing. Install the extra s3 (docs/install.md)."),
        ("gs://pictures/here", "gcsfs", "to access Google Storage"),
    ],
)
def test_a_package_that_is_missing_is_named_at_once(monkeypatch, address, package, remedy):
    monkeypatch.setattr(atomic_writes, "sleep", pytest.fail)
    classes = import_module("fsspec.registry")._registry
    monkeypatch.delitem(classes, address.split(":")[0], raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnusableStore) as error:
        write_atomically(UPath(address), PNG)
    assert str(error.value).startswith(f"{address}: ")
    assert remedy in str(error.value)


def test_an_address_is_not_said_to_be_that_of_a_variable(monkeypatch):
    monkeypatch.setattr(atomic_writes, "PATIENCE_S", 0.0)

    def refuse():
        raise ConnectionRefusedError("refused")

    with pytest.raises(UnreachableStore) as error:
        atomic_writes.reach(UPath("s3://pictures/answers.cassette"), refuse)
    assert "given to the command, or set by COUNTERFACTORY_HOME or" in str(error.value)
    assert "materialize" not in str(error.value)

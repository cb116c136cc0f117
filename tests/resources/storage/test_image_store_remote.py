"""The image store on a real S3 endpoint, on loopback."""

from hashlib import sha256

import pytest
import s3fs

from resources.faults import AccessDenied, MissingItem, UnreachableStore, UnwritableStore
from resources.storage.image_store import ImageStore

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
DIGEST = sha256(PNG).hexdigest()


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


def test_of_two_that_write_at_once_the_first_stays(s3, monkeypatch):
    """The second finds nothing, as the first has not written yet, and is refused by the store."""
    store = ImageStore(root="s3://pictures/here")
    name = f"here/images/{DIGEST[:2]}/{DIGEST}.png"

    def none_yet(self, digest):
        s3.put_object(Bucket="pictures", Key=name, Body=PNG, Metadata={"by": "the first"})
        raise MissingItem("not there")

    monkeypatch.setattr(ImageStore, "get", none_yet)
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


def test_room_is_asked_for_by_an_object_that_goes_again(s3, monkeypatch):
    store = ImageStore(root="s3://pictures/here")
    store.reserve(10**12).release()
    assert objects(s3) == {}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(UnreachableStore, match=r"s3://pictures/here.*COUNTERFACTORY_IMAGES"):
        ImageStore(root="s3://pictures/here").reserve(1)


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

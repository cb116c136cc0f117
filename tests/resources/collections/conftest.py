"""A collection in a folder of its own, and what becomes of its rows."""

import pytest
from PIL import Image

from resources.collections import load
from resources.collections.collecting import collect
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache


@pytest.fixture
def picture(tmp_path):
    """Saves a picture of one colour below the folder of the collection, and gives its path."""

    def save(name, colour="red", mode="RGB", size=(8, 6), **options):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new(mode, size, colour).save(path, **options)
        return path

    return save


@pytest.fixture
def stores(tmp_path):
    return ImageStore(root=str(tmp_path / "data")), WorkCache(root=str(tmp_path / "data"))


@pytest.fixture
def collected(tmp_path, stores):
    """The rows of the collection that an entry of collections.yaml describes."""

    def rows(entry):
        (tmp_path / "collections.yaml").write_text(entry, encoding="utf-8")
        (collection,) = load(tmp_path / "collections.yaml").values()
        return list(collect(collection, *stores))

    return rows

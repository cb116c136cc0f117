"""`counterfactory export`: which files it replaces."""

import pytest
from upath import UPath

from resources.calls import CallStore
from resources.cassette import BadCassette, export_cassette, require_replaceable
from resources.storage.image_store import ImageStore


@pytest.fixture
def cassette(tmp_path):
    """A cassette without calls."""
    path, calls = tmp_path / "old.cassette", CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite")
    export_cassette(path, [], calls, ImageStore(root=str(tmp_path)), {})
    calls.close()
    return path


def test_a_file_that_is_no_cassette_is_not_replaced(command, tmp_path):
    models = "[]"
    done = command("export", "vlmbias/answers_vk", "models.yaml", "-p", "flags", models=models)
    assert done.exit_code == 2
    assert "models.yaml is there and is no cassette: name another file." in done.stderr
    assert (tmp_path / "models.yaml").read_text() == models


def test_a_cassette_is_replaced_even_a_part_of_one(cassette):
    require_replaceable(cassette)
    cassette.write_bytes(cassette.read_bytes()[:60])
    require_replaceable(cassette)
    require_replaceable(cassette.with_name("new.cassette"))


def test_an_object_that_is_no_cassette_is_not_replaced(cassette):
    address = UPath("memory://bucket/answers.cassette")
    require_replaceable(address)
    address.write_bytes(cassette.read_bytes())
    require_replaceable(address)
    address.write_bytes(b"- name: gpt")
    with pytest.raises(BadCassette, match=r"answers\.cassette is there and is no cassette"):
        require_replaceable(address)

import pytest
from upath import UPath

from resources.storage.atomic_writes import write_atomically
from resources.storage.files import (
    fetch,
    find_modified_time,
    is_stored,
    list_files,
    open_address,
    read_file,
    remove_file,
)

FILES = ("b.csv", "a/deep/c.csv", "a/b.csv", ".hidden", "a/.building/d.csv")


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def root(request, tmp_path):
    """The address of an empty data root of each kind."""
    if request.param == "s3":
        request.getfixturevalue("s3")
        return "s3://pictures/home"
    return str(tmp_path) if request.param == "folder" else f"memory://{tmp_path.name}/home"


def test_files_are_listed_in_order_without_hidden_ones(root):
    folder = open_address(root)
    assert list_files(folder) == []
    for name in FILES:
        write_atomically(folder.joinpath(*name.split("/")), name.encode())
    assert [str(path.relative_to(folder)) for path in list_files(folder)] == [
        "a/b.csv",
        "a/deep/c.csv",
        "b.csv",
    ]


def test_another_writer_is_seen_at_once(root):
    path = open_address(root) / "table.parquet"
    assert not is_stored(path)
    assert list_files(path.parent) == []
    other = UPath(root, skip_instance_cache=True) if "://" in root else path.parent
    write_atomically(other / "table.parquet", b"first")
    assert is_stored(path)
    assert list_files(path.parent) == [path]
    write_atomically(other / "table.parquet", b"second")
    assert read_file(path) == b"second"
    before = find_modified_time(path)
    assert before == find_modified_time(path)
    remove_file(path)
    assert not is_stored(path)
    with pytest.raises(FileNotFoundError):
        read_file(path)


def test_what_has_changed_is_fetched_again(root):
    folder = open_address(root) / "adapter"
    with pytest.raises(FileNotFoundError):
        (fetch(folder) / "weights").read_bytes()
    for name, data in {"weights": b"first", "deep/config": b"{}"}.items():
        write_atomically(folder.joinpath(*name.split("/")), data)
    local = fetch(folder)
    assert (local / "weights").read_bytes() == b"first"
    assert (local / "deep" / "config").read_bytes() == b"{}"
    assert fetch(folder) == local
    write_atomically(folder / "weights", b"later")
    assert (fetch(folder) / "weights").read_bytes() == b"later"
    assert fetch(folder / "weights").read_bytes() == b"later"

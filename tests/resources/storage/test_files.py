import os
import tempfile

import pytest
from upath import UPath

from resources.faults import AccessDenied, UnwritableStore
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import (
    fetch,
    find_local_folder,
    find_modified_time,
    find_size,
    is_stored,
    list_fetched,
    list_files,
    list_folder,
    open_address,
    open_file,
    read_file,
    remove_file,
    resolve_path,
    update_file,
)

FILES = ("b.csv", "a/deep/c.csv", "a/b.csv", ".hidden", "a/.building/d.csv")


def test_files_are_listed_in_order_without_hidden_ones(address):
    folder = open_address(address)
    assert list_files(folder) == []
    for name in FILES:
        write_atomically(folder.joinpath(*name.split("/")), name.encode())
    assert [str(path.relative_to(folder)) for path in list_files(folder)] == [
        "a/b.csv",
        "a/deep/c.csv",
        "b.csv",
    ]


def test_another_writer_is_seen_at_once(address):
    path = open_address(address) / "table.parquet"
    assert not is_stored(path)
    assert list_files(path.parent) == []
    other = UPath(address, skip_instance_cache=True) if "://" in address else path.parent
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


def test_what_has_changed_is_fetched_again(address):
    folder = open_address(address) / "adapter"
    with pytest.raises(FileNotFoundError):
        (fetch(folder) / "weights").read_bytes()
    for name, data in {"weights": b"first", "deep/config": b"{}"}.items():
        write_atomically(folder.joinpath(*name.split("/")), data)
    local = fetch(folder)
    assert (local / "weights").read_bytes() == b"first"
    assert (local / "deep" / "config").read_bytes() == b"{}"
    if "://" in address:
        os.utime(local.parent, (0, 0))
        assert local.parent in list_fetched()
    assert fetch(folder) == local
    assert local.parent.stat().st_mtime > 0
    write_atomically(folder / "weights", b"later")
    assert (fetch(folder) / "weights").read_bytes() == b"later"
    assert fetch(folder / "weights").read_bytes() == b"later"


def test_a_folder_lists_what_lies_in_itself(address):
    folder = open_address(address) / "reviews"
    assert list_folder(folder) == []
    for name in FILES:
        write_atomically(folder.joinpath(*name.split("/")), name.encode())
    assert [path.name for path in list_folder(folder)] == [".hidden", "a", "b.csv"]
    with open_file(folder / "b.csv") as file:
        assert file.read() == b"b.csv"
    assert find_size(folder / "b.csv") == 5
    for read in (open_file, find_size):
        with pytest.raises(FileNotFoundError):
            read(folder / "c.csv")


def test_what_is_written_meanwhile_is_not_lost(address):
    path, rivals = open_address(address) / "found.txt", [b"b", b"c"]

    def add(content):
        """Add a line; somebody else has added one since it was read, in an object store."""
        if "s3" in address and rivals:
            write_atomically(path, (content or b"") + rivals.pop(0))
        return (content or b"") + b"a"

    update_file(path, add)
    update_file(path, lambda content: None)
    assert read_file(path) == (b"bca" if "s3" in address else b"a")
    remove_file(path)
    update_file(path, lambda content: None)
    assert not is_stored(path)


def test_relative_paths_start_at_the_data_root(address, tmp_path):
    folder = open_address(address)
    assert resolve_path(folder, "scores/x.csv") == folder / "scores" / "x.csv"
    assert resolve_path(folder, str(tmp_path)) == tmp_path
    local = find_local_folder(folder)
    assert local.is_dir()
    assert (local == folder) == ("://" not in address)


def test_another_users_temporary_folder_is_not_taken(tmp_path, monkeypatch):
    """It could hold what others have laid there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = open_address("memory://others/home")
    assert find_local_folder(root).is_relative_to(tmp_path)
    (mine,) = tmp_path.iterdir()
    assert mine.stat().st_mode & 0o777 == 0o700
    stranger = os.getuid() + 1
    mine.rename(tmp_path / f"counterfactory-{stranger}")
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    with pytest.raises(UnwritableStore, match=r"is another user's\. Set TMPDIR to a folder"):
        find_local_folder(root)


@pytest.mark.slow
def test_an_object_that_may_not_be_read_is_named(s3, s3_server):
    path = open_address("s3://pictures/home/reviews")
    s3_server.refuses = lambda method, _query: method == "GET"
    with pytest.raises(AccessDenied, match=r"s3://pictures/home/reviews may not be read"):
        list_folder(path)

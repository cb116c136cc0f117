import subprocess
import sys
import textwrap

import pytest

from resources.faults import CorruptItem, DiskFull, MissingItem, PathOutsideStore, UnwritableStore
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_an_image_is_named_by_its_bytes_and_written_once(tmp_path):
    store = ImageStore(root=str(tmp_path))
    digest = store.put(PNG)
    written = store.path(digest).stat().st_mtime_ns
    assert store.put(PNG) == digest
    assert store.path(digest).stat().st_mtime_ns == written
    assert store.get(digest) == PNG
    assert [path.name for path in store.path(digest).parent.iterdir()] == [f"{digest}.png"]


def test_a_damaged_image_is_never_given_out(tmp_path):
    store = ImageStore(root=str(tmp_path))
    digest = store.put(PNG)
    store.path(digest).write_bytes(PNG[:-1])
    with pytest.raises(CorruptItem, match=f"{digest}.*Materialize"):
        store.get(digest)
    assert not store.holds(digest)
    store.put(PNG)
    assert store.get(digest) == PNG


def test_a_missing_image_is_named_with_its_remedy(tmp_path):
    with pytest.raises(MissingItem, match=r"is gone\. Materialize"):
        ImageStore(root=str(tmp_path)).get("0" * 64)


def test_a_data_root_that_is_a_file_is_unwritable(tmp_path):
    root = tmp_path / "taken"
    root.write_text("a file")
    with pytest.raises(UnwritableStore, match=r"taken.*COUNTERFACTORY_HOME"):
        ImageStore(root=str(root)).put(PNG)
    with pytest.raises(UnwritableStore, match=r"taken.*COUNTERFACTORY_HOME"):
        WorkCache(root=str(root)).record({"key": 1})


def test_a_read_only_data_root_is_unwritable():
    with pytest.raises(UnwritableStore, match=r"/proc/nowhere.*COUNTERFACTORY_HOME"):
        ImageStore(root="/proc/nowhere").put(PNG)


FULL_DISK = """
    import sys
    from resources.faults import DiskFull
    from resources.storage.image_store import ImageStore
    from resources.storage.work_cache import WorkCache

    store, work_cache, kept = ImageStore(root=sys.argv[1]), WorkCache(root=sys.argv[1]), []
    work_cache.record({"before": "full"})
    try:
        for number in range(100):
            kept.append(store.put(b"png" + bytes([number]) * 100_000))
    except DiskFull as error:
        assert "free some space" in str(error), error
    else:
        raise AssertionError("the disk never filled")
    assert len(kept) > 3
    assert all(store.holds(digest) for digest in kept)
    assert work_cache.find_results(["before"]) == {"before": "full"}
    names = [path.name for path in store.path(kept[0]).parent.parent.rglob("*.*")]
    assert all(name.endswith(".png") for name in names), names
    try:
        for number in range(10_000):
            work_cache.record({f"{number}": "x" * 10_000})
    except DiskFull as error:
        assert "work.sqlite" in str(error), error
    else:
        raise AssertionError("the disk never filled")
    assert work_cache.find_results(["before"]) == {"before": "full"}
    print("whole")
"""


def test_a_full_disk_is_named_and_loses_nothing(tmp_path):
    """On a real file system of one megabyte, mounted in a namespace of its own."""
    script = tmp_path / "fill.py"
    script.write_text(textwrap.dedent(FULL_DISK))
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = f"mount -t tmpfs -o size=1m tmpfs {disk} && exec {sys.executable} {script} {disk}"
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={"PYTHONPATH": ".", "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout.strip() == "whole", done.stderr


def test_full_and_unwritable_are_told_apart():
    assert not issubclass(DiskFull, UnwritableStore)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..", "", "A" * 64, "0" * 63, "0" * 64 + "\n"]
)
def test_what_is_no_sha256_is_not_looked_for(tmp_path, name):
    with pytest.raises(PathOutsideStore, match=r"not an image of.*sha256"):
        ImageStore(root=str(tmp_path)).get(name)

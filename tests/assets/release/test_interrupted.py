"""Releases on a disk that fills up, and by processes that are killed: whole or not there."""

import errno
import os
import sys
from pathlib import Path

import pytest

from assets.release import ReleaseOptions, write_release
from assets.release.staging import write_beside
from resources.faults import UnwritableStore
from tests.assets.release.small import SHAPES

FULL = """
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg

from assets.release import ReleaseOptions, write_release
from resources.faults import DiskFull
from tests.assets.release.small import SHADES, SHAPES, open_made


def leave(kib):
    used = os.statvfs(disk)
    used = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024
    subprocess.run(["mount", "-o", f"remount,size={used + kib}k", str(disk)], check=True)


if __name__ == "__main__":
    disk, target = Path(sys.argv[1]), Path(sys.argv[1], "out")
    with dg.DagsterInstance.ephemeral() as instance:
        with open_made(disk / "root", instance, *SHADES) as sources:
            before, failures = sorted(disk.rglob("*")), 0
            while not target.exists():
                leave(4 * failures)
                try:
                    write_release(
                        target, SHAPES, sources, ReleaseOptions(has_webdataset=True)
                    )
                except DiskFull as error:
                    assert str(error).startswith(f"{target}: no space is left"), error
                    assert sorted(disk.rglob("*")) == before
                    failures += 1
    print(failures)
"""
KILLED = """
import os
import signal
import sys
from pathlib import Path

from assets.release.staging import write_beside

if __name__ == "__main__":
    with write_beside(Path(sys.argv[1]), replace=False) as scratch:
        (scratch / "data").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def program(tmp_path, forks):
    def run(text, *arguments, **options):
        script = tmp_path / "program.py"
        script.write_text(text)
        return forks.run(script, *arguments, **options)

    return run


def test_a_disk_that_fills_up_at_any_point_leaves_nothing(program, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    done = program(FULL, disk, disk=disk)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5


def test_what_a_killed_process_left_is_removed_and_a_living_one_keeps_its_own(
    program, sources, tmp_path
):
    target = tmp_path / "there" / "out"
    assert program(KILLED, target).returncode != 0
    (left,) = target.parent.iterdir()
    assert (left / "data").read_text() == "half"
    with write_beside(target, replace=True) as living:
        assert [*target.parent.iterdir()] == [living]
        write_release(target, SHAPES, sources, ReleaseOptions())
        assert sorted(target.parent.iterdir()) == sorted([living, target])
    assert [*target.parent.iterdir()] == [target]


def test_a_release_that_is_replaced_is_the_old_one_or_the_new_one(sources, tmp_path, monkeypatch):
    target = tmp_path / "there" / "out"
    write_release(target, SHAPES, sources, ReleaseOptions(partitions=["dark"]), replace=True)
    before = (target / "SHA256SUMS").read_text()
    with monkeypatch.context() as patch:
        patch.setattr("assets.release.folder.write_checksums", lambda *_: sys.exit("stopped"))
        with pytest.raises(SystemExit):
            write_release(target, SHAPES, sources, ReleaseOptions(), replace=True)
    assert (target / "SHA256SUMS").read_text() == before
    write_release(target, SHAPES, sources, ReleaseOptions(), replace=True)
    assert (target / "SHA256SUMS").read_text() != before
    assert [*target.parent.iterdir()] == [target]


def test_a_replaced_release_that_was_not_removed_is_removed_by_the_next_one(
    sources, tmp_path, monkeypatch
):
    target = tmp_path / "there" / "out"
    write_release(target, SHAPES, sources, ReleaseOptions())
    with monkeypatch.context() as patch:
        patch.setattr("assets.release.staging.shutil.rmtree", lambda *_, **__: sys.exit("killed"))
        with pytest.raises(SystemExit):
            write_release(target, SHAPES, sources, ReleaseOptions(), replace=True)
    assert len([*target.parent.iterdir()]) == 2
    write_release(target, SHAPES, sources, ReleaseOptions(), replace=True)
    assert [*target.parent.iterdir()] == [target]


def test_a_folder_that_is_the_root_of_a_mount_is_named_before_anything_is_written():
    with (
        pytest.raises(UnwritableStore, match=r"^/proc is the root of a mount.*Name a folder in it"),
        write_beside(Path("/proc"), replace=False),
    ):
        raise AssertionError


def test_a_mount_that_looks_like_a_folder_is_named_once_it_refuses(tmp_path, monkeypatch):
    """A folder that is mounted elsewhere on its own disk."""

    def refuse(*_):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "rename", refuse)
    with (
        pytest.raises(UnwritableStore, match="is the root of a mount"),
        write_beside(tmp_path / "out", replace=False),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_that_somebody_else_fills_meanwhile_is_kept_and_named(tmp_path):
    target = tmp_path / "out"

    def write_both():
        with write_beside(target, replace=False) as scratch:
            (scratch / "ours").touch()
            target.mkdir()
            (target / "theirs").touch()

    with pytest.raises(UnwritableStore, match=r"out was filled meanwhile.*Name another folder"):
        write_both()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "theirs"]


def test_a_folder_that_may_not_be_written_is_named(sources, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match="cannot be written") as caught:
        write_release(tmp_path / "file" / "out", SHAPES, sources, ReleaseOptions())
    assert "Name a folder that you may write to." in str(caught.value)

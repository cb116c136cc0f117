"""A disk that really fills up in the middle: a file system in memory, in a namespace of its own."""

import pytest

PRELUDE = """
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from generators.domains import load_domain
from resources.execution import work_loop
from tests.runs import TOPIC, failure, few_scenes, materialize, metadata


def leave(kib):
    used = os.statvfs(disk)
    used = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024
    subprocess.run(["mount", "-o", f"remount,size={used + kib}k", str(disk)], check=True)


def files():
    return {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}


disk = Path(sys.argv[1])
"""

DRAWING = """
TOTAL, ONCE = 28, 2
DRAWING = load_domain("patterned_grids").draw_module
WHOLE = DRAWING.list_scenes


def draw():
    return materialize(disk, "drawn_images", topic="patterned_grids", sizes=(768, 1152))


if __name__ == "__main__":
    DRAWING.list_scenes = lambda seed: WHOLE(seed)[: TOTAL // 2]
    work_loop._FIRST_CHUNK = work_loop._LARGEST_CHUNK = ONCE
    leave(450)
    result = draw()
    assert not result.success
    message = failure(result)
    assert "No space is left to write" in message, message
    assert f"{disk}/" in message, message
    assert "free some space" in message, message

    kept = {path: path.stat().st_mtime_ns for path in disk.rglob("*.png")}
    assert ONCE <= len(kept) < TOTAL, len(kept)
    assert all(sha256(path.read_bytes()).hexdigest() == path.stem for path in kept)
    assert not [path for path in files() if path.name.startswith(".")]
    assert not list(disk.rglob("*.parquet"))

    leave(65536)
    result = draw()
    assert result.success, failure(result)
    again = metadata(result, "drawn_images")
    assert again["images"] == TOTAL
    # What was stored ahead of what is recorded is not remembered, but it is still there.
    assert TOTAL - len(kept) <= again["drawn_now"] <= TOTAL - ONCE, again["drawn_now"]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    print("whole")
"""

REPORTING = """
def made():
    # The store of calls is opened by whoever asks it for costs first, if there is room for it.
    ours = (disk / "vlmbias", disk / "report")
    return {path: of for path, of in files().items() if any(map(path.is_relative_to, ours))}


def report():
    return materialize(disk, "report")


def assert_full(result):
    assert not result.success
    message = failure(result)
    assert f"No space is left to write {disk}/report/vlmbias" in message, message
    assert "free some space" in message, message


if __name__ == "__main__":
    with few_scenes():
        assert materialize(disk, topic=TOPIC).success
    assert materialize(disk, "accuracy").success
    before = made()
    leave(200)
    assert_full(report())
    assert made() == before, made().keys() - before.keys()

    leave(65536)
    again = report()
    assert again.success, failure(again)
    before = made()
    leave(200)
    assert_full(report())
    assert made() == before, made().keys() - before.keys()
    print("whole")
"""


@pytest.fixture
def on_a_small_disk(tmp_path, forks):
    def on_a_small_disk(program):
        script = tmp_path / "program.py"
        script.write_text(PRELUDE + program)
        disk = tmp_path / "disk"
        disk.mkdir()
        return forks.run(script, disk, disk=disk)

    return on_a_small_disk


@pytest.mark.slow
def test_what_was_drawn_is_kept_and_the_rest_drawn_later(on_a_small_disk):
    done = on_a_small_disk(DRAWING)
    assert done.stdout.strip() == "whole", done.stderr


@pytest.mark.slow
def test_the_report_is_the_old_one_or_the_new_one(on_a_small_disk):
    done = on_a_small_disk(REPORTING)
    assert done.stdout.strip() == "whole", done.stderr

"""The same inputs give the same bytes: in another place, zone, locale, hash seed and threads."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from assets.release import ReleaseOptions, write_release
from tests.assets.release.small import SHAPES

PROJECT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path

import dagster as dg

from assets.release import ReleaseOptions, write_release
from tests.assets.release.small import SHADES, SHAPES, open_made

folder = Path(sys.argv[1])
with dg.DagsterInstance.ephemeral() as instance:
    with open_made(folder / "root", instance, *SHADES) as sources:
        write_release(folder / "out", SHAPES, sources, ReleaseOptions(has_webdataset=True))
"""


@pytest.mark.slow
def test_two_releases_are_the_same_to_the_byte(sources, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    write_release(here, SHAPES, sources, ReleaseOptions(has_webdataset=True))
    environment = {
        "TZ": "Asia/Kolkata",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "7",
        "OMP_NUM_THREADS": "3",
        "ARROW_NUM_THREADS": "3",
        "PYTHONPATH": str(PROJECT),
    }
    subprocess.run(
        [sys.executable, "-c", PROGRAM, there],
        cwd=tmp_path,
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )
    files = sorted(path.relative_to(here) for path in here.rglob("*") if path.is_file())
    assert len(files) == 10
    assert (here / "SHA256SUMS").read_bytes() == (there / "out" / "SHA256SUMS").read_bytes()
    assert all((here / path).read_bytes() == (there / "out" / path).read_bytes() for path in files)


def test_the_checksums_are_those_of_all_files(sources, tmp_path):
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions(has_webdataset=True))
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=tmp_path / "out",
        check=True,
        capture_output=True,
        text=True,
    )
    paths = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(checked.stdout.splitlines()) == len(paths) - 1
    assert sha256(b"").hexdigest() not in (tmp_path / "out" / "SHA256SUMS").read_text()

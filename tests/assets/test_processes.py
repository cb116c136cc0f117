"""Other processes: two runs at once, and the same bytes whatever the surroundings."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SCRIPT = """
import locale
import sys
print(locale.getencoding())
from tests.runs import failure, materialize
result = materialize(sys.argv[1], topic=sys.argv[2], seed=int(sys.argv[3]))
if result.success:
    result = materialize(sys.argv[1])
sys.exit(0 if result.success else failure(result))
"""

ASCII_ONLY = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale that every machine has, and in which no letter beyond ASCII can be read or written."""


def start(root, topic, seed=0, *, cwd=PROJECT, **environment):
    home = root.with_name(f"{root.name}-instance")
    home.mkdir(exist_ok=True)
    surroundings = os.environ | {"PYTHONPATH": str(PROJECT), "DAGSTER_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), topic, str(seed)],
        cwd=cwd,
        env=surroundings | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Wait for success; gives the encoding that the process took files to be in."""
    printed, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return printed.strip()


def contents(root):
    """Every table, image and page by its path below the root, with a digest of its bytes."""
    files = [path for kind in ("parquet", "png", "html") for path in root.rglob(f"*.{kind}")]
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    root = tmp_path_factory.mktemp("reference")
    finish(start(root, "patterned_grids"))
    return contents(root)


def test_two_runs_at_once_on_one_partition_end_as_one_would(tmp_path, reference):
    root = tmp_path / "shared"
    root.mkdir()
    both = [start(root, "patterned_grids") for _ in range(2)]
    for process in both:
        finish(process)
    assert contents(root) == reference


def test_surroundings_change_no_byte(tmp_path, reference):
    fonts = tmp_path / "home" / ".fonts"
    fonts.mkdir(parents=True)
    package = next(Path(p) for p in sys.path if (Path(p) / "matplotlib_fontja").is_dir())
    for name in ("Arial.ttf", "DejaVuSans.ttf", "IPAexGothic.ttf"):
        (fonts / name).write_bytes(
            (package / "matplotlib_fontja" / "fonts" / "ipaexg.ttf").read_bytes()
        )
    root = tmp_path / "elsewhere"
    root.mkdir()
    surroundings = {
        "HOME": str(tmp_path / "home"),
        **ASCII_ONLY,
        "TZ": "Pacific/Kiritimati",
        "PYTHONHASHSEED": "4711",
        "OMP_NUM_THREADS": "1",
    }
    encoding = finish(start(root, "patterned_grids", cwd=tmp_path, **surroundings))
    assert encoding == "ANSI_X3.4-1968"
    assert contents(root) == reference


def test_another_seed_gives_other_scenes_and_is_verified_too(tmp_path, reference):
    root = tmp_path / "seven"
    root.mkdir()
    finish(start(root, "patterned_grids", 7))
    other = contents(root)
    assert other.keys() != reference.keys()
    tables = [path for path in reference if path.endswith("drawn_images/patterned_grids.parquet")]
    assert all(other[path] != reference[path] for path in tables)

"""Other processes: two runs at once, and the same bytes whatever the surroundings."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from generators.domains import load_domain
from tests.runs import TOPIC, checks, failure, materialize, one_day

PROJECT = Path(__file__).parents[3]
SCRIPT = """
import locale
import sys
print(locale.getencoding())
from generators.domains import load_domain
from tests.runs import failure, few_scenes, materialize, one_day
with few_scenes(), one_day():
    result = materialize(sys.argv[1], topic=sys.argv[2])
    if result.success:
        result = materialize(sys.argv[1])
sys.exit(0 if result.success else failure(result))
"""

VERIFIED = ("drawn_images", "original_images", "measurements")
ASCII_ONLY = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale that every machine has, and in which no letter beyond ASCII can be read or written."""


def start(root, topic, *, cwd, **environment):
    home = root.with_name(f"{root.name}-instance")
    home.mkdir(exist_ok=True)
    surroundings = os.environ | {"PYTHONPATH": str(PROJECT), "DAGSTER_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), topic],
        cwd=cwd,
        env=surroundings | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Wait for success; gives the encoding that the process took files to be in."""
    printed, said = process.communicate(timeout=900)
    assert process.returncode == 0, said
    return printed.strip()


def contents(root):
    """Every table, image and page by its path below the root, with a digest of its bytes."""
    files = [path for kind in ("parquet", "png", "html") for path in root.rglob(f"*.{kind}")]
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


@pytest.mark.slow
def test_two_runs_at_once_in_strange_surroundings_end_as_one_here_would(tmp_path):
    expected = tmp_path / "reference"
    with one_day():
        for topic in (TOPIC, None):
            result = materialize(expected, topic=topic)
            assert result.success, failure(result)
    fonts = tmp_path / "home" / ".fonts"
    fonts.mkdir(parents=True)
    package = next(Path(p) for p in sys.path if (Path(p) / "matplotlib_fontja").is_dir())
    for name in ("Arial.ttf", "DejaVuSans.ttf", "IPAexGothic.ttf"):
        (fonts / name).write_bytes(
            (package / "matplotlib_fontja" / "fonts" / "ipaexg.ttf").read_bytes()
        )
    root = tmp_path / "shared"
    root.mkdir()
    surroundings = {
        "HOME": str(tmp_path / "home"),
        **ASCII_ONLY,
        "TZ": "Pacific/Kiritimati",
        "OMP_NUM_THREADS": "1",
    }
    both = [
        start(root, TOPIC, cwd=tmp_path, PYTHONHASHSEED=seed, **surroundings)
        for seed in ("4711", "1")
    ]
    assert {finish(process) for process in both} == {"ANSI_X3.4-1968"}
    assert contents(root) == contents(expected)


def test_another_seed_gives_other_scenes_and_is_verified_too(tmp_path, monkeypatch):
    drawing, made = load_domain("patterned_grids").draw_module, {}
    whole = drawing.list_scenes
    monkeypatch.setattr(drawing, "list_scenes", lambda seed: [*whole(seed)[:6], *whole(seed)[-2:]])
    for seed in (0, 7):
        root = tmp_path / str(seed)
        result = materialize(root, *VERIFIED, topic="patterned_grids", seed=seed)
        assert result.success, failure(result)
        assert set(checks(result).values()) == {True}
        made[seed] = contents(root)
    assert made[0].keys() != made[7].keys()
    tables = [path for path in made[0] if path.endswith("drawn_images/patterned_grids.parquet")]
    assert tables
    assert all(made[7][path] != made[0][path] for path in tables)

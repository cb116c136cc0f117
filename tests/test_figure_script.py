"""figure.py as a user runs it, with all that can be missing really missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCENE = "game_boards/sudoku"
WITHOUT_CAIROSVG = (
    "import runpy, sys; sys.modules['cairosvg'] = None; "
    "runpy.run_path('figure.py', run_name='__main__')"
)


def run(*arguments, script=("figure.py",), **environment):
    return subprocess.run(
        [sys.executable, *script, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("pdf", b"%PDF-")])
def test_it_writes_the_figure_and_says_where(tmp_path, kind, start):
    done = run(SCENE, "--kind", kind, "--size", 384, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    path = tmp_path / f"{SCENE}-384.{kind}"
    assert done.stdout == f"{path}\n"
    assert path.read_bytes().startswith(start)


def test_an_unknown_scene_fails_and_names_the_nearest(tmp_path):
    done = run("game_boards/sudoko", "--out", tmp_path)
    assert done.returncode == 1
    assert "Did you mean: game_boards/sudoku?" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_fails_and_names_the_remedy(tmp_path):
    (tmp_path / "file").touch()
    done = run(SCENE, "--kind", "svg", "--out", tmp_path / "file")
    assert done.returncode == 1
    assert "--out" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_cairosvg_a_pdf_fails_and_names_the_extra(tmp_path):
    script = ("-c", WITHOUT_CAIROSVG)
    done = run(SCENE, "--out", tmp_path, script=script)
    assert done.returncode == 1
    assert "pip install 'counterfactory[vector]'" in done.stderr
    assert run(SCENE, "--kind", "svg", "--out", tmp_path, script=script).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="hides the library from Linux's loader")
def test_without_the_cairo_library_a_pdf_fails_and_names_the_package(tmp_path):
    """An empty file stands first in the loader's path, so that opening the library fails."""
    (tmp_path / "libcairo.so.2").touch()
    done = run(SCENE, "--out", tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 1
    assert "libcairo2" in done.stderr
    assert "Traceback" not in done.stderr
    svg = run(SCENE, "--kind", "svg", "--out", tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    assert svg.returncode == 0

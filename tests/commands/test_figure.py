"""`counterfactory figure`, with all that can be missing really missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SCENE = "game_boards/sudoku"


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("pdf", b"%PDF-")])
def test_it_writes_the_figure_and_says_where(command, tmp_path, kind, start):
    done = command("figure", SCENE, "--kind", kind, "--size", 384, "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    path = tmp_path / f"{SCENE}-384.{kind}"
    assert done.stdout == f"{path}\n"
    assert path.read_bytes().startswith(start)


def test_figures_of_two_seeds_lie_beside_each_other(command, tmp_path):
    scene = "chess_pieces/chess-b2-replace"
    for seed in (0, 7):
        options = ("--kind", "svg", "--size", 384, "--seed", seed, "--out", tmp_path)
        done = command("figure", scene, *options)
        assert done.exit_code == 0, done.stderr
    first, second = tmp_path / f"{scene}-384.svg", tmp_path / f"{scene}-384-seed7.svg"
    assert first.read_bytes() != second.read_bytes()


def test_an_unknown_scene_is_named_with_the_nearest(command, tmp_path):
    done = command("figure", "game_boards/sudoko", "--out", tmp_path / "figures")
    assert done.exit_code == 2
    assert "Did you mean: game_boards/sudoku?" in done.stderr
    assert not (tmp_path / "figures").exists()


def test_a_folder_that_cannot_be_written_is_named_with_the_remedy(command, tmp_path):
    (tmp_path / "file").touch()
    done = command("figure", SCENE, "--kind", "svg", "--out", tmp_path / "file")
    assert done.exit_code == 2
    assert "--out" in done.stderr


def test_without_cairosvg_a_pdf_fails_and_names_the_extra(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    done = command("figure", SCENE, "--out", tmp_path)
    assert done.exit_code == 1
    assert "pip install 'counterfactory[vector]'" in done.stderr
    assert command("figure", SCENE, "--kind", "svg", "--out", tmp_path).exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="hides the library from Linux's loader")
def test_without_the_cairo_library_a_pdf_fails_and_names_the_package(tmp_path):
    """An empty file stands first in the loader's path, so that opening the library fails."""
    (tmp_path / "libcairo.so.2").touch()
    without = os.environ | {"LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "commands.app", "figure", SCENE, "--out", tmp_path],
        cwd=PROJECT,
        env=without,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "libcairo2" in done.stderr
    assert "Traceback" not in done.stderr

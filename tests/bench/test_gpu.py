"""One GPU's table: of tiny models on the CPU, and of what fails or takes too long."""

import stat
import sys
from pathlib import Path

import pytest

from bench import __main__ as runner
from bench import gpu, gpu_sections
from bench.figure import Figure, Unmeasured
from bench.gpu import Row, Section

PROCESS = """#!/bin/sh
case $3 in
painting) echo '["images a second", 2.5, "", 2.0, "plain loop", "4 steps"]' ;;
answering) echo 'Loading weights' ; echo 'Killed.' >&2 ; exit 9 ;;
training) echo '["steps a second", 0.5, "", null, "", ""]' ; exec sleep 60 ;;
attacks) echo 'Traceback' >&2 ; echo 'torch.OutOfMemoryError: CUDA | out of memory.' >&2 ; exit 1 ;;
esac
"""
"""A process of a section: one is measured, one killed, one too slow, one out of memory."""


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.fixture
def sections(monkeypatch, tmp_path):
    """Sections that are played by `PROCESS`, on a GPU that nvidia-smi names."""
    monkeypatch.setattr(gpu.sys, "executable", program(tmp_path / "python", PROCESS))
    monkeypatch.setattr(gpu, "SECTIONS", {**gpu.SECTIONS, "training": 0.3})
    monkeypatch.setattr(gpu, "in_a_process", lambda *what: what[-1] == "find_cuda")
    program(tmp_path / "nvidia-smi", "#!/bin/sh\necho 'NVIDIA H100, 81559 MiB, 570.1'\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.slow
def test_tiny_models_fill_each_section_and_count_for_nothing(tmp_path):
    table = tmp_path / "gpu.md"
    assert gpu.main(table, tiny=True) == 0
    text = table.read_text()
    assert gpu.NO_RESULT in text
    assert "Machine: no GPU; " in text
    assert "not measured" not in text
    for section, measured, peer in (
        ("painting", "images a second", "(plain loop)"),
        ("painting", "peak memory", "(plain loop)"),
        ("answering", "answers a second", "(plain loop)"),
        ("training", "a step", "TRL's bare trainer"),
        ("training", "peak memory", "ours"),
        ("attacks", "steps of a picture a second", "(one by one)"),
        ("attacks", "peak memory", "(one by one)"),
    ):
        lines = [line for line in text.splitlines() if f"| {section} | {measured} |" in line]
        assert any(peer in line for line in lines)


def test_what_fails_or_takes_too_long_leaves_the_rest(tmp_path, sections, capsys):
    table = tmp_path / "gpu.md"
    assert gpu.main(table, tiny=False) == 1
    lines = table.read_text().splitlines()
    assert lines[0].startswith("Machine: NVIDIA H100, 81559 MiB, 570.1; ")
    assert lines[4:] == [
        "| painting | images a second | 2.50 | 2.00 (plain loop) | 4 steps |",
        "| answering | all | not measured |  | Killed. |",
        "| training | steps a second | 0.50 |  |  |",
        "| training | the rest | not measured |  | 0.3 s were over |",
        "| attacks | all | not measured |  | torch.OutOfMemoryError: CUDA / out of memory. |",
        "",
        gpu.PUBLISHED,
    ]
    assert "painting: measured\nanswering: Killed.\n" in capsys.readouterr().out


def test_it_is_a_case_of_the_bench_as_well(sections):
    painting, answering, *_ = gpu.figures()
    assert painting == Figure(
        "painting: images a second", 2.5, "", note="2.00 (plain loop), 4 steps"
    )
    assert answering == Unmeasured("answering: the rest", "Killed.")


def test_a_killed_run_leaves_what_was_measured():
    table = gpu.format_table([Section("painting", [Row("images a second", 1234.4)])], tiny=True)
    assert "| painting | images a second | 1,234 |  |  |" in table
    for name in ("answering", "training", "attacks"):
        assert f"| {name} | all | not measured |  | not yet |" in table


def test_the_sections_end_within_ten_minutes_and_each_is_known():
    assert sum(gpu.SECTIONS.values()) <= 600
    assert gpu.SECTIONS.keys() == gpu_sections.SECTIONS.keys()


def test_without_a_gpu_no_figure_is_stated(monkeypatch):
    monkeypatch.setattr(gpu, "in_a_process", lambda *_: False)
    (unmeasured,) = gpu.figures()
    assert "no CUDA device here, so nothing was measured" in str(unmeasured)


def test_utilisation_is_that_of_the_first_gpu(monkeypatch, tmp_path):
    program(tmp_path / "nvidia-smi", "#!/bin/sh\necho 87\necho 3\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(gpu_sections, "SAMPLE_S", 0.001)
    with gpu_sections.watch_utilisation() as samples:
        while not samples:
            pass
    assert set(samples) == {87.0}


def test_its_options_are_refused_elsewhere(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["bench", "quote", "--tiny"])
    with pytest.raises(SystemExit, match="2"):
        runner.main()
    assert "python -m bench gpu --tiny" in capsys.readouterr().err
    monkeypatch.setattr(gpu, "main", lambda path, *, tiny: (path, tiny))
    monkeypatch.setattr(sys, "argv", ["bench", "gpu", "--tiny", "--to", str(tmp_path / "a.md")])
    with pytest.raises(SystemExit) as ended:
        runner.main()
    assert ended.value.code == (tmp_path / "a.md", True)

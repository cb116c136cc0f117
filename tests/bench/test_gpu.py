"""The yardstick of local models: on tiny ones, and that it states nothing where no GPU is."""

import json
import stat
import time

import pytest

from bench import gpu
from bench.figure import Unmeasured

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Measure in this process, with what is given and returned as another process would."""

    def measure_here(module, *arguments):
        assert module == "bench.gpu"
        return json.loads(json.dumps(gpu.measure(*map(str, arguments))))

    monkeypatch.setattr(gpu, "in_a_process", measure_here)


def test_without_a_gpu_nothing_is_measured_and_no_figure_stated():
    (unmeasured,) = gpu.figures()
    assert isinstance(unmeasured, Unmeasured)
    assert "no CUDA device here, so nothing was measured" in str(unmeasured)


def test_with_one_each_case_is_measured_beside_a_plain_loop(monkeypatch, tmp_path):
    """The GPU is a program that says how busy it is; models are tiny, and figures marked."""
    nvidia_smi = tmp_path / "nvidia-smi"
    nvidia_smi.write_text("#!/bin/sh\necho 87\necho 3\n")
    nvidia_smi.chmod(nvidia_smi.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(gpu, "_SAMPLE_S", 0.001)
    monkeypatch.setattr(gpu, "CASES", gpu.tiny_cases(tmp_path))
    measure = gpu.measure
    monkeypatch.setattr(
        gpu, "measure", lambda how, *case: how == "find_cuda" or measure(how, *case)
    )
    started = time.perf_counter()
    figures = [*gpu.figures()]
    seconds = time.perf_counter() - started
    assert [figure.what for figure in figures] == [
        *("images a second, flux", "by a plain loop", "the GPU's utilisation", "by a plain loop"),
        *("answers a second, llava", "by a plain loop", "the GPU's utilisation", "by a plain loop"),
    ]
    assert all(str(figure).endswith("(cpu, tiny: no result)") for figure in figures)
    assert [figure.value for figure in figures if figure.unit == "%"] == [87] * 4
    rates = [figure.value for figure in figures if figure.unit != "%"]
    assert sum(4 / rate for rate in rates) < seconds


def test_a_model_that_cannot_be_had_is_named(monkeypatch):
    def fail(module, how, *case):
        if how == "find_cuda":
            return True
        raise gpu.subprocess.CalledProcessError(1, "python")

    monkeypatch.setattr(gpu, "in_a_process", fail)
    assert [
        str(unmeasured).partition(" not measured")[0].split()[-1] for unmeasured in gpu.figures()
    ] == [case.model for case in gpu.CASES]


def test_published_figures_stand_beside_ours():
    notes = " ".join(case.note for case in gpu.CASES)
    for published in ("xDiT 0.15 eager, 0.23 compiled", "SGLang 2.5, diffusers 1.75", "SGLang 1.1"):
        assert published in notes

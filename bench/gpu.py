"""Local models on one GPU: painting, answering, training and attacks, in a table within 10 minutes.

Ours is all that a run does: the call store, batches, PNG, several requests waiting. Beside it
stands a plain loop of the library, or TRL's bare trainer. Models have the shapes of published ones
and random weights, built on the device: nothing is fetched, and speed and memory are the same.
`python -m bench gpu --tiny`, or any machine without a GPU, runs all of it with tiny models on the
CPU: what it then measures counts for nothing.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Timer
from typing import IO, Any, NamedTuple

from bench.figure import Figure, Unmeasured, in_a_process
from bench.machine import machine

SECTIONS: Mapping[str, int] = {"painting": 150, "answering": 160, "training": 190, "attacks": 90}
"""Sections, each with the seconds that it may take: together within 10 minutes."""
PUBLISHED = (
    "Published for one H100 with real weights, images a second: FLUX.1-dev, 28 steps, xDiT 0.15 "
    "eager, 0.23 compiled; FLUX.2-klein-4B, 4 steps, SGLang 2.5, diffusers 1.75; Z-Image-Turbo, "
    "8 steps, SGLang 1.1."
)
NO_RESULT = "**Nothing here counts**: tiny models on a CPU, to try the measuring itself."
_ON_CPU = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
_LONGEST_REASON = 300
_HEADS = ("section", "measured", "here", "beside it", "note")


class Row(NamedTuple):
    """A measured number; `beside` is the same of `peer`, where there is one."""

    what: str
    value: float
    unit: str = ""
    beside: float | None = None
    peer: str = ""
    note: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """What was measured, here and beside it, and the note."""
        peer = "" if self.beside is None else f"{_format(self.beside, self.unit)} ({self.peer})"
        return self.what, _format(self.value, self.unit), peer, self.note


class Section(NamedTuple):
    """What a section came to: its rows, and why it did not end, if it did not."""

    name: str
    rows: list[Row]
    failure: str | None = None

    @property
    def lines(self) -> Iterator[tuple[str, ...]]:
        """Its lines of the table."""
        for row in self.rows:
            yield self.name, *row.cells
        if self.failure is not None:
            yield self.name, "the rest" if self.rows else "all", "not measured", "", self.failure


def main(path: Path, *, tiny: bool) -> int:
    """Measure all sections, write the table after each; returns the exit code, 1 if any failed."""
    tiny = tiny or not _find_gpu()
    done: list[Section] = []
    for section in measure_sections(tiny=tiny):
        done.append(section)
        path.write_text(format_table(done, tiny=tiny), encoding="utf-8")
        print(f"{section.name}: {section.failure or 'measured'}", flush=True)
    print(f"\n{path.read_text(encoding='utf-8')}\nWritten to {path}.")
    return int(any(section.failure for section in done))


def figures() -> Iterator[Figure | Unmeasured]:
    """The rows as figures, or that nothing was measured where there is no GPU."""
    if not _find_gpu():
        why = "torch finds no CUDA device here, so nothing was measured"
        yield Unmeasured("images and answers a second, training and attacks on a GPU", why)
        return
    for name, rows, failure in measure_sections(tiny=False):
        for row in rows:
            _, _, beside, note = row.cells
            told = ", ".join(filter(None, (beside, note)))
            yield Figure(f"{name}: {row.what}", row.value, row.unit, note=told)
        if failure is not None:
            yield Unmeasured(f"{name}: the rest", failure)


def measure_sections(*, tiny: bool) -> Iterator[Section]:
    """Measure each section in a process of its own, whatever becomes of the others."""
    with TemporaryDirectory() as folder:
        for name, seconds in SECTIONS.items():
            yield measure_section(name, seconds, folder, tiny=tiny)


def measure_section(name: str, seconds: float, folder: str, *, tiny: bool) -> Section:
    """Measure a section; rows that came before its time was over, or it failed, are kept."""
    size, home = "tiny" if tiny else "full", str(Path(folder, f"{name} home"))
    command = [sys.executable, "-m", "bench.gpu_sections", name, folder, size]
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "COUNTERFACTORY_HOME": home, **(_ON_CPU if tiny else {})},
        )
        timer = Timer(seconds, process.kill)
        timer.start()
        assert process.stdout is not None
        with process.stdout as lines:
            rows = [Row(*json.loads(line)) for line in lines if line.startswith("[")]
        code, is_over = process.wait(), not timer.is_alive()
        timer.cancel()
        if code == 0:
            return Section(name, rows)
        return Section(name, rows, f"{seconds:g} s were over" if is_over else _read_reason(errors))


def format_table(sections: list[Section], *, tiny: bool) -> str:
    """The Markdown table of the sections so far, with the machine; names those still to come."""
    lines = [line for section in sections for line in section.lines]
    missing = [name for name in SECTIONS if name not in {section.name for section in sections}]
    lines += [(name, "all", "not measured", "", "not yet") for name in missing]
    table = [_HEADS, ("---", "---", "--:", "--:", "---"), *lines]
    gpu = "no GPU" if tiny else _describe_gpu()
    blocks = [
        f"Machine: {gpu}; {machine()}.",
        *([NO_RESULT] if tiny else []),
        "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in table),
        *([] if tiny else [PUBLISHED]),
    ]
    return "\n\n".join(blocks) + "\n"


def _find_gpu() -> bool:
    return bool(in_a_process("bench.gpu_sections", "find_cuda"))


def _describe_gpu() -> str:
    """Name, memory and driver of the GPUs, as nvidia-smi says them."""
    command = [
        "nvidia-smi",
        "--query-gpu=name,memory.total,driver_version",
        "--format=csv,noheader",
    ]
    try:
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "a GPU that nvidia-smi does not name"
    return "; ".join(printed.splitlines())


def _read_reason(errors: IO[str]) -> str:
    """The last line of what a process said as it failed: the error."""
    errors.seek(0)
    said = [line.strip() for line in errors if line.strip()]
    return (said or ["its process was killed"])[-1][:_LONGEST_REASON]


def _format(value: Any, unit: str) -> str:
    return f"{value:,.{0 if value >= 1000 else 2}f} {unit}".rstrip()

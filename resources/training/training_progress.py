"""Progress: one JSON line per step, written while a training runs and read by who waits for it."""

import json
from collections.abc import Iterator, Mapping
from math import isclose, isfinite
from pathlib import Path
from time import monotonic
from typing import Any

from resources.training.checkpoints import mark_complete
from resources.training.meter import Meter
from resources.training.processes import get_process_state
from resources.training.training_errors import TrainingError, import_library

PROGRESS_FILE = "progress.jsonl"
PATIENCE = 50
"""Steps without any spread of rewards, or without a gradient, after which a training stops."""
_LOGGED_NAMES = (
    "loss",
    "reward",
    "reward_std",
    "frac_reward_zero_std",
    "grad_norm",
    "learning_rate",
)
_SPREAD = "frac_reward_zero_std"
"""The share of pictures whose samples all have one reward, from which nothing is learned."""
_NOTHING = 1e-7
"""A loss or norm of a gradient that is none."""


class NoSpread(TrainingError):
    """The samples of every picture had one and the same reward for too long."""


class NoGradient(TrainingError):
    """The training learns nothing any more, and no weight moves."""


class Diverged(TrainingError):
    """A gradient was no number, and so were all weights after it."""


def build_callback(folder: Path, meter: Meter) -> Any:
    """Build the callback that logs each step, for `trainer.add_callback`."""
    kind: Any = type("Progress", (_Progress, import_library("transformers").TrainerCallback), {})
    return kind(folder, meter)


class _Progress:
    def __init__(self, folder: Path, meter: Meter) -> None:
        self._folder, self._meter = folder, meter
        self._idle, self._still, self._started, self._first = 0, 0, monotonic(), 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Count from where a killed run ended."""
        self._started, self._first = monotonic(), state.global_step

    def on_log(self, args: Any, state: Any, control: Any, logs: Any, **others: Any) -> None:
        """Write the numbers of a step; raises `NoSpread`, `NoGradient` and `Diverged`."""
        means, samples = self._meter.read()
        numbers = {name: float(logs[name]) for name in _LOGGED_NAMES if logs.get(name) is not None}
        if "loss" not in numbers:
            return
        step = state.global_step
        pace = (monotonic() - self._started) / max(1, step - self._first)
        line = {
            "step": step,
            "of": state.max_steps,
            "seconds": pace,
            **numbers,
            **means,
            "said": samples,
        }
        if state.is_world_process_zero:
            with (self._folder / PROGRESS_FILE).open("a", encoding="utf-8") as file:
                # A full disk may have left half of a line, which is not to be gone on with.
                file.write(f"\n{json.dumps(line)}\n")
        _require_numbers(step, numbers)
        self._require_spread(step, numbers)
        self._require_gradient(step, numbers)

    def on_save(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Mark the checkpoint as whole, once every process has written its part."""
        get_process_state().wait_for_everyone()
        if state.is_world_process_zero:
            mark_complete(self._folder / f"checkpoint-{state.global_step}")

    def _require_spread(self, step: int, numbers: Mapping[str, float]) -> None:
        idle = isclose(numbers.get(_SPREAD, 0.0), 1.0)
        self._idle = self._idle + 1 if idle else 0
        if self._idle >= PATIENCE:
            raise NoSpread(
                f"The training stopped after step {step}: for {PATIENCE} steps all samples of each "
                f"picture had the same reward ({numbers['reward']:+.2f} on average), from which "
                f"nothing is learned. If that is near 1.5, all is learned: set steps to "
                f"{max(1, step - PATIENCE)}. Else raise temperature, or take a base whose answers "
                "are digits."
            )

    def _require_gradient(self, step: int, numbers: Mapping[str, float]) -> None:
        # Without a spread of rewards there is none either, which is told in other words.
        learned = "reward" in numbers or numbers["loss"] < _NOTHING
        still = not learned and numbers.get("grad_norm", 1.0) < _NOTHING
        self._still = self._still + 1 if still else 0
        if self._still >= PATIENCE:
            raise NoGradient(
                f"The training stopped after step {step}: for {PATIENCE} steps its gradient was 0 "
                f"at a loss of {numbers['loss']:.3g}: nothing is learned any more, as where the "
                "probability of yes has become 0 for every picture. Set a smaller learning_rate."
            )


def _require_numbers(step: int, numbers: Mapping[str, float]) -> None:
    # Of the loss, trainers tell the mean of those that are numbers.
    if not isfinite(numbers.get("grad_norm", 0.0)):
        raise Diverged(
            f"The training stopped at step {step}: its gradient is no number any more, and the "
            "weights would be none either. Set a smaller learning_rate."
        )


def read_progress(folder: Path) -> list[dict[str, Any]]:
    """Read the logged steps in order; of a repeated step, the last."""
    path = folder / PROGRESS_FILE
    if not path.exists():
        return []
    lines_by_step = {line["step"]: line for line in _whole_lines(path.read_text(encoding="utf-8"))}
    return [lines_by_step[step] for step in sorted(lines_by_step)]


def _whole_lines(text: str) -> Iterator[dict[str, Any]]:
    """The lines that end: a killed process leaves half of one."""
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def format_progress(line: Mapping[str, Any]) -> str:
    """A step in a line, for logs."""
    words = [f"step {line['step']} of {line['of']}: loss {line['loss']:.4g}"]
    if "reward" in line:
        spread = f"standard deviation {line['reward_std']:.2f} over the batch"
        idle = f"one reward for all samples of {line[_SPREAD]:.0%} of pictures"
        words.append(f"reward {line['reward']:+.3f} ({spread}, {idle})")
    if "misranked" in line:
        words.append(f"misranked {line['misranked']:.0%}")
    remaining_s = (line["of"] - line["step"]) * line["seconds"]
    words.append(f"{line['seconds']:.2g} s a step, {remaining_s / 60:.1f} min left")
    samples_text = f"; said: {'; '.join(line['said'])}" if line["said"] else ""
    return f"{', '.join(words)}{samples_text}"

"""What is told of steps, and when a training is given up."""

import json

import pytest

from resources.training.meter import Meter
from resources.training.training_progress import (
    PATIENCE,
    PROGRESS_FILE,
    Diverged,
    NoGradient,
    NoSpread,
    _Progress,
    format_progress,
    read_progress,
)

pytestmark = pytest.mark.slow


class State:
    def __init__(self, step):
        self.global_step, self.max_steps, self.is_world_process_zero = step, 200, True


def log(progress, step, **told):
    logs = {"loss": 0.5, "reward": -1.0, "reward_std": 0.0, "frac_reward_zero_std": 1.0, **told}
    progress.on_log(None, State(step), None, logs=logs)


def test_it_stops_after_fifty_steps_without_spread_and_says_why(tmp_path):
    progress = _Progress(tmp_path, Meter())
    for step in range(1, PATIENCE):
        log(progress, step)
    log(progress, PATIENCE, frac_reward_zero_std=0.98)
    for step in range(PATIENCE + 1, 2 * PATIENCE):
        log(progress, step)
    with pytest.raises(NoSpread, match=r"after step 100: for 50 steps .* \(-1\.00 on average\)"):
        log(progress, 2 * PATIENCE)


def test_it_stops_where_gradients_are_no_numbers(tmp_path):
    """The loss of such a step is told as if nothing was wrong."""
    progress = _Progress(tmp_path, Meter())
    log(progress, 1, grad_norm=2.0)
    with pytest.raises(Diverged, match=r"stopped at step 2: .* Set a smaller learning_rate"):
        log(progress, 2, grad_norm=float("nan"))
    assert len(read_progress(tmp_path)) == 2


def test_it_stops_where_nothing_moves_before_all_is_learned(tmp_path):
    """As the control, once P(yes) is 0 whatever is shown: its loss is the margin then."""
    progress = _Progress(tmp_path, Meter())
    told = {"grad_norm": 1e-12, "learning_rate": 1e-2}

    def step(at, loss):
        progress.on_log(None, State(at), None, logs=told | {"loss": loss})

    for at in range(1, PATIENCE):
        step(at, 0.3)
    step(PATIENCE, 0.0)
    for at in range(PATIENCE + 1, 2 * PATIENCE):
        step(at, 0.3)
    with pytest.raises(NoGradient, match=r"after step 100: .* at a loss of 0\.3: nothing is learn"):
        step(2 * PATIENCE, 0.3)
    done = _Progress(tmp_path, Meter())
    for at in range(1, 2 * PATIENCE):
        done.on_log(None, State(at), None, logs=told | {"loss": 0.0})


def test_a_step_that_is_made_again_is_told_once_and_half_a_line_is_passed_over(tmp_path):
    meter = Meter()
    progress = _Progress(tmp_path, meter)
    log(progress, 1)
    log(progress, 2, loss=0.4)
    meter.add("misranked", [1.0, 0.0])
    meter.record_samples(["correct: '7' (+1.00)"])
    log(progress, 2, loss=0.3, reward=0.25)
    with (tmp_path / PROGRESS_FILE).open("a") as file:
        file.write(json.dumps({"step": 3})[:5])
    first, second = read_progress(tmp_path)
    assert (first["loss"], second["loss"], second["misranked"]) == (0.5, 0.3, 0.5)
    told = format_progress(second)
    assert told.startswith(
        "step 2 of 200: loss 0.3, reward +0.250 (standard deviation 0.00 over the batch, one "
        "reward for all samples of 100% of pictures), misranked"
    )
    assert told.endswith("said: correct: '7' (+1.00)")


def test_half_a_line_that_a_full_disk_left_takes_no_step_with_it(tmp_path):
    log(_Progress(tmp_path, Meter()), 1)
    path = tmp_path / PROGRESS_FILE
    path.write_text(path.read_text() + '{"step": 2, "lo')
    log(_Progress(tmp_path, Meter()), 2)
    assert [line["step"] for line in read_progress(tmp_path)] == [1, 2]


def test_the_summary_at_the_end_is_no_step(tmp_path):
    progress = _Progress(tmp_path, Meter())
    progress.on_log(None, State(3), None, logs={"train_runtime": 3.0, "train_loss": 0.1})
    assert read_progress(tmp_path) == []

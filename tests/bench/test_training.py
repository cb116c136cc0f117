"""What is reckoned from measured trainings; `tests/resources/training` measures some."""

import pytest

from bench import training
from bench.shapes import LLAVA

pytestmark = pytest.mark.slow

TINY = {
    "vision_config": {**LLAVA["vision_config"], "hidden_size": 32, "intermediate_size": 32}
    | {"num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 28},
    "text_config": {**LLAVA["text_config"], "hidden_size": 32, "intermediate_size": 32}
    | {"num_hidden_layers": 1, "num_attention_heads": 2},
}
"""What a GPU is measured by, small enough for none."""


def _give(monkeypatch, measured):
    """Have each measurement give the next of its numbers, by its name and first argument."""

    def given(module, what, *more, **environment):
        return measured[what if what in measured else f"{what} {more[0]}"].pop(0)

    monkeypatch.setattr(training, "in_a_process", given)


def test_ours_is_held_against_the_bare_trainers_and_seeds_against_the_limit(monkeypatch):
    measured = {"bare ranking": [[10.0, 800.0], [11.0, 820.0], [9.0, 810.0]]}
    measured |= {"ours ranking": [[10.0, 840.0], [9.0, 850.0], [8.0, 845.0]]}
    measured |= {"bare tuning": [[30.0, 600.0]] * 3, "ours tuning": [[25.0, 570.0]] * 3}
    measured |= {"learned": [[0.5, seed / 20, 12.0] for seed in range(5)], "killed": [[9, 9]]}
    measured |= {"processes": [[2, 0], [4, 1]], "large": [None, None, None]}
    _give(monkeypatch, measured)
    figures = list(training.figures())
    for (bare, slower, megabytes, more), values in (
        (figures[:4], (11.0, 10.0, 800.0, 5.0)),
        (figures[4:8], (30.0, 20.0, 600.0, -5.0)),
    ):
        found = (bare.value, slower.value, megabytes.value, more.value)
        assert tuple(round(each, 6) for each in found) == values
    assert "held" in str(figures[3])
    assert "MISSED" in str(figures[5])
    *seeds, longest, kills, two, four, _, _, unmeasured = figures[8:]
    assert [seed.value <= seed.limit for seed in seeds] == [True, True, True, False, False]
    assert longest.value == 12.0
    assert "held" in str(kills)
    assert "held" in str(two)
    assert "MISSED" in str(four)
    assert "no CUDA device" in str(unmeasured)


def test_a_gpu_is_held_against_the_bare_trainer_and_the_papers_seconds(monkeypatch):
    _give(monkeypatch, {"large": [[1.0, 60_000.0], [0.95, 61_000.0], 3.0]})
    ours, slower, memory, scored = training._large()
    assert (ours.value, memory.value) == (0.95, 61_000.0)
    assert round(slower.value, 2) == 5.26
    assert "MISSED" in str(scored)


def test_what_a_gpu_is_measured_by_runs_at_a_small_shape(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "LARGE_STEPS", 1)
    monkeypatch.setattr(training, "LARGE_ITEMS", 2)
    for how in ("bare", "ours"):
        rate, megabytes = training.large(tmp_path / how, how, TINY)
        assert rate > 0
        assert megabytes > 0
    assert isinstance(training.large(tmp_path / "scored", "scored", TINY), float)

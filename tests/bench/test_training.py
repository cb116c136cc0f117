"""What is reckoned from measured trainings; `tests/resources/training` measures some."""

from bench import training


def test_ours_is_held_against_the_bare_trainer_and_seeds_against_the_limit(monkeypatch):
    measured = {"bare": [[10.0, 800.0], [11.0, 820.0], [9.0, 810.0]]}
    measured |= {"ours": [[10.0, 840.0], [9.0, 850.0], [8.0, 845.0]]}
    measured |= {"learned": [[0.5, seed / 20, 12.0] for seed in range(5)], "killed": [[9, 9]]}
    measured |= {"processes": [[2, 0], [4, 1]]}
    monkeypatch.setattr(training, "in_a_process", lambda module, what, *_: measured[what].pop(0))
    bare, ours, slower, megabytes, more, *others = training.figures()
    assert (bare.value, ours.value, megabytes.value) == (11.0, 10.0, 800.0)
    assert (round(slower.value, 6), round(more.value, 6)) == (10.0, 5.0)
    *seeds, longest, kills, two, four, unmeasured = others
    assert [seed.value <= seed.limit for seed in seeds] == [True, True, True, False, False]
    assert longest.value == 12.0
    assert "held" in str(kills)
    assert "held" in str(two)
    assert "MISSED" in str(four)
    assert "no CUDA device" in str(unmeasured)

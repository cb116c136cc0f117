"""Differences between judges: by hand, and against McNemar's test and cluster-robust errors."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from metrics.statistics.paired_intervals import paired_interval
from metrics.statistics.sign_flips import correct_by_holm, sign_flip_test
from metrics.vlmbias.judge_differences import compare_judges
from tests.metrics.vlmbias.test_accuracy import row

RIGHT, BIASED, OTHER = "5", "4", "9"


def asked(model, replies, domain="flags", **more):
    """Rows of a judge about scenes of a topic: the replies to each scene's questions."""
    return [
        row(
            f"{domain}/{scene:03}", reply, model=model, domain=domain, question=f"q{number}", **more
        )
        for scene, scene_replies in enumerate(replies)
        for number, reply in enumerate(scene_replies)
    ]


def line(rows, judges=("one", "other"), measure="accuracy", **options):
    table = compare_judges(pd.DataFrame(rows), judges, **options)
    return table[table["measure"].eq(measure)].iloc[0]


def test_it_is_the_mean_over_topics_of_what_both_have_answered():
    rows = [
        *asked("one", [[RIGHT, RIGHT], [RIGHT, BIASED]]),
        *asked("other", [[RIGHT, BIASED], [OTHER, BIASED]]),
        *asked("one", [[OTHER]], "grids"),
        *asked("other", [[RIGHT]], "grids"),
        # One alone has answered these.
        *asked("one", [[RIGHT]], "chess"),
        row("flags/9", None, "refused", model="other", question="q0"),
        row("flags/9", RIGHT, model="one", question="q0"),
    ]
    accuracy, bias = line(rows), line(rows, measure="bias_rate")
    # Flags: 0, 1, 1, 0; grids: −1.
    assert accuracy["difference"] == (0.5 - 1) / 2
    assert tuple(accuracy[["topics", "scenes", "questions"]]) == (2, 3, 5)
    assert bias["difference"] == (-0.25 + 0) / 2
    assert (accuracy["first"], accuracy["second"]) == ("one", "other")


def test_what_is_usual_and_right_says_nothing_about_bias():
    rows = [
        row("flags/0", RIGHT, model="one", question="q"),
        row("flags/0", OTHER, model="other", question="q"),
        row("flags/1", RIGHT, model="one", question="q", bias="5"),
        row("flags/1", RIGHT, model="other", question="q", bias="5"),
        row("flags/2", BIASED, model="one", question="q"),
        row("flags/2", None, "unparsed", model="other", question="q"),
    ]
    bias = line(rows, measure="bias_rate")
    assert (bias["difference"], bias["questions"], bias["scenes"]) == (0.5, 2, 2)
    # An unparsed reply is wrong: 1, 0 and 0.
    assert line(rows)["difference"] == pytest.approx(1 / 3)


def test_interval_and_p_are_of_scenes_inside_their_topics():
    random = np.random.default_rng(5)
    sizes, rows, differences = {"flags": 12, "grids": 7}, [], []
    for domain, scenes in sizes.items():
        one, other = (random.random((scenes, 3)) < share for share in (0.7, 0.3))
        for model, right in (("one", one), ("other", other)):
            rows += asked(model, np.where(right, RIGHT, OTHER), domain)
        differences.append(one * 1.0 - other)
    values = np.concatenate([part.ravel() for part in differences])
    scenes, topics = np.repeat(np.arange(19), 3), np.repeat([0, 1], [36, 21])
    for seed in (0, 3):
        found = line(rows, seed=seed)
        expected = paired_interval(values, scenes, topics, seed=seed)
        assert (found["low"], found["high"]) == pytest.approx(expected)
        assert found["p"] == sign_flip_test(values, scenes, topics, seed=seed)
    assert line(rows).equals(line(rows, seed=0))
    assert line(rows)["p"] != line(rows, seed=3)["p"]
    shuffled = pd.DataFrame(rows).sample(frac=1, random_state=1).to_dict("records")
    assert line(shuffled).equals(line(rows))


def test_one_question_a_scene_is_mcnemars_table():
    gained, lost, same = 30, 12, 158
    replies = [[RIGHT, OTHER]] * gained + [[OTHER, RIGHT]] * lost + [[RIGHT, RIGHT]] * same
    rows = [
        *asked("one", [[first] for first, _ in replies]),
        *asked("other", [[second] for _, second in replies]),
    ]
    found, total = line(rows), gained + lost + same
    assert found["difference"] == (gained - lost) / total
    assert found["p"] == pytest.approx(binomtest(gained, gained + lost).pvalue, abs=0.003)
    error = np.sqrt(gained + lost - (gained - lost) ** 2 / total) / total
    ends = found["difference"] - 1.96 * error, found["difference"] + 1.96 * error
    assert (found["low"], found["high"]) == pytest.approx(ends, abs=0.008)


def test_questions_of_a_scene_are_one_fact():
    """Against the error that is robust to clusters: the spread of the scenes' sums."""
    random = np.random.default_rng(2)
    scene_skill = random.random((200, 1))
    one, other = (random.random((200, 6)) < 0.3 + 0.6 * scene_skill * share for share in (1, 0.5))
    rows = [
        *asked("one", np.where(one, RIGHT, OTHER)),
        *asked("other", np.where(other, RIGHT, OTHER)),
    ]
    found, sums = line(rows), (one * 1.0 - other).sum(axis=1)
    error = np.sqrt(np.sum((sums - sums.mean()) ** 2)) / 1200
    width = found["high"] - found["low"]
    assert width == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_each_two_are_compared_once_and_corrected_by_measure():
    random = np.random.default_rng(4)
    shares = {"a": 0.8, "b": 0.6, "c": 0.45}
    rows = [
        cell
        for model, share in shares.items()
        for cell in asked(model, np.where(random.random((40, 1)) < share, RIGHT, BIASED))
    ]
    table = compare_judges(pd.DataFrame(rows), ["b", "a", "c"])
    for measure in ("accuracy", "bias_rate"):
        lines = table[table["measure"].eq(measure)]
        pairs = [*zip(lines["first"], lines["second"], strict=True)]
        assert pairs == [("b", "a"), ("b", "c"), ("a", "c")]
        np.testing.assert_array_equal(lines["p_holm"], correct_by_holm(lines["p"]))
        assert lines["p_holm"].max() > lines["p"].min()
    assert table.columns[-5:].tolist() == ["difference", "low", "high", "p", "p_holm"]


def test_without_a_question_in_common_there_is_no_number():
    rows = [*asked("one", [[RIGHT]]), *asked("other", [[RIGHT]], "grids")]
    found = line(rows)
    assert found[["difference", "low", "high", "p", "p_holm"]].isna().all()
    assert tuple(found[["topics", "scenes", "questions"]]) == (0, 0, 0)

"""Figures of answers: resampled once for the same answers, anew for any others."""

import pandas as pd
import pytest

from assets.vlmbias import accuracy


@pytest.fixture
def scored(monkeypatch):
    """The answers of which figures were made, in their order."""
    made = []

    def accuracy_table(answers):
        made.append(answers)
        return pd.DataFrame({"accuracy": [answers["score"].mean()]})

    monkeypatch.setattr(accuracy, "accuracy_table", accuracy_table)
    monkeypatch.setattr(accuracy, "_LATEST", {})
    return made


def test_the_same_answers_are_resampled_once_and_others_anew(scored):
    answers = pd.DataFrame({"model": ["a", "b"], "score": [1.0, None], "accepted": [["x"], None]})
    figures = accuracy.build_accuracy_figures(answers)
    figures["accuracy"] = 0.0
    assert accuracy.build_accuracy_figures(answers.copy())["accuracy"].tolist() == [1.0]
    assert len(scored) == 1
    others = [
        answers.assign(score=[0.0, None]),
        answers.assign(model=["a", "c"]),
        answers.iloc[::-1],
        answers.rename(columns={"model": "judge"}),
    ]
    for number, other in enumerate(others, start=2):
        accuracy.build_accuracy_figures(other)
        assert len(scored) == number
    assert accuracy.build_accuracy_figures(others[0])["accuracy"].tolist() == [0.0]

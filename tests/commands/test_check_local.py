"""`counterfactory check` of models on this machine, tiny ones of random weights."""

import re

import pytest

from tests import tiny
from tests.commands.test_check import results

pytestmark = pytest.mark.slow

METRIC = """
- {{name: m, backend: transformers, model: {0}, family: f, roles: [metric],
   parameters: {{formula: vqa_score}}, price: {{per_gpu_hour: 3.6}}}}
"""
JUDGE = """
- {{name: m, backend: transformers, model: {0}, family: f, roles: [judge],
   parameters: {{max_new_tokens: 8}}, price: {{per_gpu_hour: 0}}}}
"""


@pytest.fixture
def check(command, tmp_path):
    def run(models, **weights):
        folder = tiny.save_llava(tmp_path / "llava", **weights)
        home = {"COUNTERFACTORY_HOME": tmp_path / "data"}
        return command("check", "m", models=models.format(folder), **home)

    return run


def test_a_metric_scores_by_the_probability_of_a_token(check):
    done = check(METRIC, words=tiny.WORDS + " Yes" * 20)
    assert done.exit_code == 0, done.output
    assert results(done) == {"scores the right text": True, "scores a wrong text": True}
    assert "unknown" not in done.stdout


def test_a_model_without_that_token_is_told(check):
    done = check(METRIC)
    assert done.exit_code == 1
    assert not any(results(done).values())
    (sentence,) = re.findall(r"^.*one token for 'Yes'.*$", done.stdout, re.MULTILINE)
    assert "so that the formula of m cannot be used with it" in sentence


def test_a_judge_that_says_the_same_to_everything_sees_nothing(check):
    done = check(JUDGE, always="5")
    assert done.exit_code == 1
    assert "m answers as if there was no picture" in done.stdout
    assert not any(results(done).values())

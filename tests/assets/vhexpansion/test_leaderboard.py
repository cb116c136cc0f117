"""VHExpansion on leaderboards of others: pairs of answers whose mean is symmetric accuracy."""

from collections import defaultdict
from random import Random
from statistics import mean

import pytest

from assets.vhexpansion.benchmark import BENCHMARK
from assets.vhexpansion.common import asset_key
from assets.vhexpansion.yes_no_step import ANSWERS
from metrics.vhexpansion.symmetry import measure_symmetry
from resources.storage.data_root import DataRoot
from tests.assets.forged_tables import MODELS, store
from tests.assets.vhexpansion.cases import OTHER
from tests.runs import TOPIC

JUDGE = MODELS.models[1]


@pytest.fixture
def answers(tmp_path):
    """Answers to both forms of 30 cases, three repeats, also about JPEG; a tenth are missing."""
    draw = Random(5)
    rows = []
    for number in range(30):
        truth = draw.choice(["yes", "no"])
        for form in ("original", "negated"):
            for repeat in range(3):
                for perturbation in ("none", "jpeg"):
                    answer = draw.choices(["yes", "no", None], [45, 45, 10])[0]
                    right = truth if form == "original" else OTHER[truth]
                    rows.append(
                        {
                            "case_id": f"{TOPIC}/{number}",
                            "dataset": TOPIC,
                            "image_id": f"{TOPIC}/{number}/normal/384",
                            "sha256": f"{number:064}",
                            "form": form,
                            "question": f"Question {number}, {form}?",
                            "truth": right,
                            "perturbation": perturbation,
                            "repeat": repeat,
                            "response": answer and f"{{{answer}}}",
                            "answer": answer,
                            "correct": answer and answer == right,
                        }
                    )
    store(tmp_path, asset_key(f"answers_{JUDGE.name}"), TOPIC, ANSWERS, rows)
    return ANSWERS.build_table(rows).to_pandas().query("perturbation == 'none'")


def test_the_mean_over_cases_is_symmetric_accuracy(answers, tmp_path):
    board = BENCHMARK.leaderboard
    (scope,) = board.list_tasks([TOPIC]).values()
    samples = [*board.load_samples(DataRoot(root=str(tmp_path)), JUDGE, scope)]
    scores = defaultdict(list)
    for sample in samples:
        scores[sample.sample_id].append(sample.score)
    numbers = measure_symmetry(answers.assign(base_id=answers["image_id"]))
    assert mean(map(mean, scores.values())) == pytest.approx(numbers["symmetric"])
    assert 0 < numbers["symmetric"] < 1
    assert len(samples) < 90
    assert {sample.partition for sample in samples} == {TOPIC}
    first = samples[0]
    assert [OTHER[reference] for reference in first.references] == first.references[::-1]
    assert first.prompts[0].endswith("Answer in curly brackets, e.g., {Yes} or {No}.")

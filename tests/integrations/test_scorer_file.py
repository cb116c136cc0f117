"""The scorer that harnesses load is the program's, in one file that imports none of it."""

import json
import subprocess
import sys
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from math import isnan
from pathlib import Path

import pandas as pd
import pytest

import metrics
from generators.domains import load_domains
from metrics.vlmbias.harness_table import OURS, compare_harnesses
from tests.integrations.scorer_file import SCORER, build_scorer

FOLDER = Path(__file__).parents[1] / "metrics"


@pytest.fixture(scope="module")
def scorer():
    spec = spec_from_file_location("counterfactory_scorer", SCORER)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_replies():
    for name in ("reply_parsing/awkward_replies.json", "vlmbias/harness_replies.json"):
        stack = [json.loads((FOLDER / name).read_text(encoding="utf-8"))]
        while stack:
            value = stack.pop()
            stack += value.values() if isinstance(value, dict) else []
            stack += value if isinstance(value, list) else []
            if isinstance(value, str):
                yield value


def test_the_file_is_what_the_modules_are():
    assert SCORER.read_text(encoding="utf-8") == build_scorer()


def test_it_reads_every_awkward_reply_as_the_program_does(scorer):
    replies = [*list_replies()]
    assert len(replies) > 600
    names = ["Flag of Cape Verde", "Cabo Verde"]
    for reply in replies:
        assert tuple(scorer.read_count(reply)) == tuple(metrics.read_count(reply))
        assert tuple(scorer.read_yes_no(reply)) == tuple(metrics.read_yes_no(reply))
        assert tuple(scorer.read_name(reply, names)) == tuple(metrics.read_name(reply, names))


def test_scores_are_right_biased_and_without_refusals(scorer):
    reply = "I count 5 stripes, not 4: {5}"
    assert scorer.score_reply(reply, "5", "4") == {"accuracy": 1.0, "bias": 0.0}
    assert scorer.score_reply("{four}", "5", "4") == {"accuracy": 0.0, "bias": 1.0}
    assert scorer.score_reply("5", "5", None) == {"accuracy": 0.0, "bias": 0.0}
    refused = scorer.score_reply("I'm sorry, but I cannot assist with that.", "5", "4")
    assert all(map(isnan, refused.values()))
    assert scorer.mean_of_answered([1.0, refused["accuracy"], 0.0]) == 0.5


def list_rows():
    """Rows of `questions` about the drawn scenes, the originals among them."""
    for domain in load_domains().values():
        for scene in domain.draw_module.list_scenes(0):
            for number, question in enumerate(domain.ask_module.write_questions(scene)):
                yield {
                    **asdict(question),
                    "domain": domain.name,
                    "image_set": scene.image_set,
                    "image_id": f"{scene.base_id}/{number}",
                }


def test_a_judge_that_looks_has_no_bias_and_one_that_remembers_is_never_right(scorer):
    """The numbers of a task are those of the same answers here, over all topics' questions."""
    rows = list(list_rows())
    assert {row["question_id"] for row in rows} == {"Q1", "Q2", "Q3", "N1", "N2"}
    for column, expected in (("ground_truth", (1.0, 0.0)), ("expected_bias", (0.0, 1.0))):
        scores = [scorer.score_row(f"{{{row[column]}}}", row) for row in rows]
        printed = [
            scorer.mean_of_answered([score[name] for score in scores])
            for name in ("accuracy", "bias")
        ]
        answers = pd.DataFrame(rows).assign(
            response=[f"{{{row[column]}}}" for row in rows],
            answer=[row[column] for row in rows],
            outcome="answered",
        )
        ours = compare_harnesses(answers).numbers.set_index("harness").loc[OURS]
        assert tuple(printed) == (ours["accuracy"], ours["bias_rate"]) == expected


def test_it_needs_nothing_but_python(tmp_path):
    command = [sys.executable, "-I", "-S", str(SCORER)]
    assert subprocess.run(command, check=False, cwd=tmp_path).returncode == 0

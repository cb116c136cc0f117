"""What Dagster shows of a judge's answers: numbers that it plots, and pictures gone wrong."""

import io
import re

import pandas as pd
import pytest
from PIL import Image

from assets.protobias.summary import to_plotted_numbers
from assets.vlmbias.results import RATES, answers_metadata
from resources.storage.image_store import ImageStore

SCENES = 60


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return ImageStore(root=str(tmp_path_factory.mktemp("images")))


@pytest.fixture(scope="module")
def shown(images):
    picture = io.BytesIO()
    Image.new("RGB", (32, 32), "red").save(picture, "PNG")
    return images.put(picture.getvalue())


def answers(shown, wrong, *, image_set="benchmark", prompting="baseline", truth="5"):
    """Two questions about each of 60 scenes, of which the first so many are answered wrongly.

    Every third of these is unreadable, the others say what is expected, "4".
    """
    rows = []
    for scene in range(SCENES):
        unread = scene < wrong and scene % 3 == 2
        said = None if unread else "4" if scene < wrong else truth
        for question in ("Q1", "Q2"):
            rows.append(
                {
                    "model": "gpt",
                    "prompting": prompting,
                    "image_set": image_set,
                    "variant": "original" if image_set == "originals" else "counterfactual",
                    "domain": "flags",
                    "subtopic": "stars",
                    "base_id": f"flags/{image_set}-{scene}",
                    "image_id": f"flags/{image_set}-{scene}/384",
                    "size": 384,
                    "question_id": question,
                    "question": "How many?",
                    "expected_bias": "4",
                    "ground_truth": truth,
                    "answer": said,
                    "outcome": "unparsed" if unread else "answered",
                    "score": 1.0 if said == truth else 0.0,
                    "shown_sha256": shown,
                }
            )
    return pd.DataFrame(rows)


def test_rates_with_their_intervals_are_numbers(shown, images):
    found = answers_metadata(answers(shown, 30), images)
    assert found["accuracy"] == 0.5
    assert found["bias_rate"] == pytest.approx(20 / 60, abs=1e-4)
    assert found["accuracy_low"] < 0.5 < found["accuracy_high"]
    assert found["bias_rate_low"] < 20 / 60 < found["bias_rate_high"]
    assert all(type(found[name]) is float for name in RATES)
    assert found["rates_of"] == "baseline, benchmark, Q1 & Q2"
    low, high = (found[f"accuracy_{end}"] for end in ("low", "high"))
    assert f"| 0.500 ({low:.3f} to {high:.3f}) | 0.333 (" in found["rates"].value


def test_what_is_plotted_stays_the_same_kind_of_number(shown, images):
    """The baseline on the benchmark, whatever else was asked; nothing, rather than no number."""
    others = [
        answers(shown, 0, prompting="debiased"),
        answers(shown, 0, image_set="stand-in"),
        answers(shown, 0, image_set="originals", truth="4"),
    ]
    found = answers_metadata(pd.concat([*others, answers(shown, 30)]), images)
    assert (found["accuracy"], found["rates_of"]) == (0.5, "baseline, benchmark, Q1 & Q2")
    assert len(found["rates"].value.splitlines()) == 2 + 4
    stand_ins = answers_metadata(answers(shown, 30, image_set="stand-in"), images)
    assert stand_ins["rates_of"] == "baseline, stand-in, Q1 & Q2"
    originals = answers_metadata(answers(shown, 0, image_set="originals", truth="4"), images)
    assert not set(RATES) & set(originals)
    refused = answers(shown, 0).assign(outcome="refused", answer=None, score=float("nan"))
    assert not set(RATES) & set(answers_metadata(refused, images))


def test_wrong_answers_are_seen_beside_the_truth(shown, images):
    sheet = answers_metadata(answers(shown, 60), images)["wrong_answers"].value
    assert len(re.findall(r"!\[\]\(data:image/jpeg;base64,", sheet)) == 20
    assert "flags/benchmark-0, Q1: said 4, truth 5" in sheet
    few = answers_metadata(answers(shown, 3), images)["wrong_answers"].value
    assert few.count("](data:") == 3, "one picture a scene"
    assert "flags/benchmark-2, Q1: said nothing readable, truth 5" in few
    assert "wrong_answers" not in answers_metadata(answers(shown, 0), images)


def test_a_painters_failure_rates_and_margins_are_numbers():
    rows = pd.DataFrame(
        [
            ["evaluated", "clip", "all", 0.25, 0.1, 0.2],
            ["evaluated", "seer", "all", 0.0, 0.3, None],
            ["evaluated", "late", "all", None, None, None],
            ["evaluated", "clip", "animals", 0.5, 0.5, 0.5],
            ["human", "clip", "all", 0.75, 0.5, 0.5],
        ],
        columns=[
            *("sample", "metric", "domain"),
            *("failure_rate", "correct_margin", "incorrect_margin"),
        ],
    )
    assert to_plotted_numbers(rows) == {
        "failure_rate_clip": 0.25,
        "correct_margin_clip": 0.1,
        "incorrect_margin_clip": 0.2,
        "failure_rate_seer": 0.0,
        "correct_margin_seer": 0.3,
    }

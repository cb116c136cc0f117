"""What Dagster shows of a judge's answers: numbers that it plots, and pictures gone wrong."""

import io
import re

import pandas as pd
import pytest
from PIL import Image

from assets.vlmbias.results import answers_metadata
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


def test_rates_are_written_and_plotted_with_their_intervals(shown, images):
    """As text: Dagster would join the numbers of topics in one line."""
    found = answers_metadata(answers(shown, 30), images)
    plot, rate = found["accuracy"].split(" ", 1)
    assert re.fullmatch("·+─+●─+·+", plot)
    low, high = (float(end) for end in re.fullmatch(r"50.0% \((.+)% to (.+)%\)", rate).groups())
    assert low < 50 < high
    assert found["bias_rate"].split(" ")[1] == "33.3%"
    assert found["rates_of"] == "baseline, benchmark, Q1 & Q2"
    assert f"{plot} 0.500 ({low / 100:.3f} to {high / 100:.3f}) |" in found["rates"].value


def test_what_is_plotted_stays_the_same_kind_of_rate(shown, images):
    """The baseline on the benchmark, whatever else was asked; nothing, rather than no number."""
    others = [
        answers(shown, 0, prompting="debiased"),
        answers(shown, 0, image_set="stand-in"),
        answers(shown, 0, image_set="originals", truth="4"),
    ]
    found = answers_metadata(pd.concat([*others, answers(shown, 30)]), images)
    assert " 50.0% (" in found["accuracy"]
    assert found["rates_of"] == "baseline, benchmark, Q1 & Q2"
    tables = [found[name].value for name in found if re.fullmatch(r"rates(_\d)?", name)]
    assert all(len(table) < 1000 for table in tables)
    assert [len(table.splitlines()) - 2 for table in tables] == [4]
    stand_ins = answers_metadata(answers(shown, 30, image_set="stand-in"), images)
    assert stand_ins["rates_of"] == "baseline, stand-in, Q1 & Q2"
    originals = answers_metadata(answers(shown, 0, image_set="originals", truth="4"), images)
    assert not {"accuracy", "bias_rate"} & set(originals)
    refused = answers(shown, 0).assign(outcome="refused", answer=None, score=float("nan"))
    assert not {"accuracy", "bias_rate"} & set(answers_metadata(refused, images))


def test_wrong_answers_are_seen_beside_the_truth(shown, images):
    sheet = answers_metadata(answers(shown, 60), images)["wrong_answers"].value
    assert len(re.findall(r"!\[\]\(data:image/jpeg;base64,", sheet)) == 20
    assert "flags/benchmark-0, Q1: said 4, truth 5" in sheet
    few = answers_metadata(answers(shown, 3), images)["wrong_answers"].value
    assert few.count("](data:") == 3, "one picture a scene"
    assert "flags/benchmark-2, Q1: said nothing readable, truth 5" in few
    assert "wrong_answers" not in answers_metadata(answers(shown, 0), images)

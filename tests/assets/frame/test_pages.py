"""What the report says of judges whose scores are made up here."""

import pandas as pd
import pytest

from assets.frame.inflation import inflation_rows
from assets.frame.pages import Sourced
from assets.frame.pages.charts import overlays
from assets.frame.pages.finding import finding, sentence
from assets.frame.search import beside_originals, searched

BEST, OTHER = '[{"kind":"instruction","position":"center"}]', '[{"kind":"instruction"}]'


def made(judge, rise, images, domains=("animals", "indoor")):
    """Scores and searches of a judge that gives 2 or 3, and more for one place of the overlay."""
    scores = pd.DataFrame(
        {
            "model": judge,
            "domain": domain,
            "image_id": f"{domain}/{number}",
            "instruction": "Generate a dog.",
            "bias": bias,
            "parameters": parameters,
            "original": "a",
            "sha256": "b",
            "template": "standard",
            "readable": None,
            "score": 2.0 + number % 2 + (rise if parameters == BEST else 0),
        }
        for domain in domains
        for number in range(images)
        for bias, parameters in (("none", "[]"), ("instruction", OTHER), ("instruction", BEST))
    )
    search = pd.concat(
        pd.DataFrame(searched(beside_originals(held), 0)).assign(domain=domain, model=judge, seed=0)
        for domain, held in scores.groupby("domain")
    )
    return scores, search.assign(rehearsal=False)


def sourced(*judges, images):
    """A source of so many pictures a domain; `judges` are names with rises."""
    each = [(name, *made(name, rise, images)) for name, rise in judges]
    nothing = pd.DataFrame()
    rows = [
        {"source": "brush", "model": name, **row}
        for name, scores, search in each
        for row in inflation_rows(scores, search, nothing, nothing)
    ]
    scores, search = (pd.concat(tables) for tables in list(zip(*each, strict=True))[1:])
    return Sourced("brush", pd.DataFrame(rows), scores, search, nothing, nothing)


def test_a_judge_that_is_moved_and_one_that_is_not():
    source = sourced(("eye", 1.0), ("stone", 0.0), images=30)
    found = finding([source])
    assert found.state == "results"
    assert found.sentence.startswith("1 of 2 judges give a picture of brush clearly more")
    assert "; eye gives +4" in found.sentence
    assert "buys 1.00 of 5 points from eye" in sentence(source, "eye")
    assert "buys 0.00 of 5 points from stone" in sentence(source, "stone")


@pytest.mark.parametrize(("rise", "said"), [(1.0, "The only judge gives"), (0.0, "No judge")])
def test_few_pictures_are_a_trial(rise, said):
    found = finding([sourced(("eye", rise), images=24)])
    assert found.state == "trial"
    assert found.sentence.startswith(f"A trial on few pictures: {said}")


def test_every_mark_lies_on_the_chart():
    bars = overlays(sourced(("eye", 2.0), ("ear", -2.0), ("stone", 0.0), images=30)).bars
    marks = [mark.rate for bar in bars for mark in bar.marks]
    assert len(marks) == 3
    for rate in marks:
        assert 0 <= rate.low <= rate.value <= rate.high <= 1

"""Photographs that a rule fails: the checker is not asked about them, and what that saves."""

import io
import math

import numpy as np
import pytest
from dagster import AssetKey
from PIL import Image

from assets.kit.benchmarks import build_planners
from assets.planning import Task, quote_tasks
from assets.planning.quote_text import format_text
from assets.report.asset import list_rule_decisions
from assets.report.costs import RuleDecisions, describe_decisions, summarize_decisions
from generators.photographs import load_photograph_topics
from resources.models.catalog import Catalog
from tests.assets.painted import LIST, TOPIC, Painting, Studio, painter_at
from tests.assets.plans import plan_context
from tests.runs import metadata

CHECKED = {"checker": "artist"}
KEY = AssetKey(["vlmbias", "candidates"])
PRICE = {"input_per_million": 1000.0, "output_per_million": 2000.0}


def slope(shift=0):
    """A picture of smooth colours; `shift` tells one from another."""
    across, down = np.meshgrid(np.arange(64), np.arange(64))
    return np.stack([across * 3 + shift, down * 2, 200 - across - down], axis=2).astype(np.uint8)


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def saved_as_jpeg(picture, quality):
    """The picture as JPEG leaves it, in a PNG."""
    file = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(file, "JPEG", quality=quality)
    return png(np.asarray(Image.open(file)))


def edit(animal, original):
    """One edit is blank and one unchanged but for JPEG; two are almost so."""
    pixels = np.asarray(Image.open(io.BytesIO(original)).convert("RGB")).copy()
    if animal == "ostrich":
        return png(np.full_like(pixels, 128))
    if animal == "heron":
        return saved_as_jpeg(original, 95)
    if animal == "dog":
        nearly_blank = np.full_like(pixels, 128)
        nearly_blank[0, 0] += 5
        return png(nearly_blank)
    pixels[24:32, 40] -= 20  # A faint line of 1 × 8 px.
    return png(pixels)


class Editing(Painting):
    """Smooth originals, and the edits of `edit`."""

    def __call__(self, received):
        if received.task != "picture":
            return super().__call__(received)
        (animal,) = (name for name, _ in LIST if f" {name} " in received.texts[0])
        if received.path.endswith("/edits"):
            return edit(animal, received.images[0])
        return png(slope([name for name, _ in LIST].index(animal)))


@pytest.fixture
def studio(tmp_path, instance, server):
    server.answer = Editing()
    studio = Studio(tmp_path / "root", instance, server)
    studio.add(painter_at(server, price=PRICE, image_tokens={"base": 100}))
    studio.must("subjects", subjects={"writer": "artist"})
    studio.must("paintings", "edits", painter="artist", edits={"edits_per_image": 1})
    return studio


def quote(studio, **entry):
    studio.models[0] = studio.models[0].model_copy(update=entry)
    with plan_context(studio.root) as sources:
        planners = build_planners(Catalog(tuple(studio.models)))
        made = quote_tasks(planners, sources, [Task(KEY, f"artist|{TOPIC}", CHECKED)])
    return made.lines[0], format_text(made, [])


def list_questions(*animals):
    topic = load_photograph_topics()[TOPIC]
    photographs = topic.list_photographs([{"name": name, "num_legs": legs} for name, legs in LIST])
    return [
        text
        for photograph in photographs
        if photograph.subject in animals
        for text in topic.write_checks(photograph).values()
    ]


def test_the_checker_is_asked_about_all_but_what_a_rule_fails(studio):
    # Before the first answer: a token for four bytes, 100 for the picture, 100 for the answer.
    questions = list_questions("ostrich", "heron")
    expected = sum((math.ceil(len(q) / 4) + 100) * 0.001 + 100 * 0.002 for q in questions)
    line, text = quote(studio)
    assert (line.requests, line.to_send, line.spared.number) == (18, 18, 6)
    note = f"artist: 6 requests decided by rule, about ${expected:,.4f} not spent"
    assert f"{note} (vlmbias/candidates (artist|{TOPIC}))." in text

    since = studio.server.count
    result = studio.must("candidates", painter="artist", candidates=CHECKED)
    received = studio.server.received[since:]
    assert len(received) == (8 - 2) * 3
    rows = studio.table("candidates", "artist")
    failed = rows[rows["decided_by"] == "rule"].set_index("subject")
    assert failed["failed_checks"].map(list).to_dict() == {
        "ostrich": ["blank"],
        "heron": ["unchanged"],
    }
    assert set(failed["check"]) == {"failed"}
    others = rows[rows["decided_by"] != "rule"]
    assert set(others["decided_by"]) == {"model"}
    assert set(others["check"]) == {"passed"}
    told = metadata(result, "candidates")
    assert "| artist | birds | 2 | 2 | 2 | 0 |" in told["retention"]
    # After it: the mean tokens of the 18 answers, as the provider counted them.
    spent = told["spent_usd"]
    assert told["requests_sent"] == 18
    said = told["decided_by_rule"]
    assert said.startswith("6 requests decided by rule, about $")
    usd = float(said.partition("$")[2].split()[0])
    assert usd == pytest.approx(spent / 18 * 6, rel=0.02)

    with plan_context(studio.root) as sources:
        spending = sources.calls.list_spending()
        (decision,) = list_rule_decisions(sources.home, spending)
    assert decision == ("vlmbias/candidates", f"artist|{TOPIC}", 2, 6)
    (sentence,) = describe_decisions([decision], spending)
    assert sentence.endswith(f"2 pictures decided by rule, about ${spent * 2 / 6:,.4f} not spent.")

    saved = f"{spent * 2 / 6:,.4f}"
    total = summarize_decisions([decision], spending)
    assert total == f"Cheap first: 2 pictures decided by rule, about ${saved} not spent."
    unpaid = RuleDecisions("protobias/filtered_pairs", "birds|artist", 1, 6)
    total = summarize_decisions([decision, unpaid], spending)
    assert total.endswith(
        f"3 pictures decided by rule, about ${saved} not spent, and an unknown sum."
    )
    assert summarize_decisions([], spending) == ""

    since = studio.server.count
    assert quote(studio)[0].to_send == 0
    studio.must("candidates", painter="artist", candidates=CHECKED)
    assert studio.server.count == since


def test_an_unknown_price_is_said_and_never_0(studio):
    _, text = quote(studio, price=type(studio.models[0].price)())
    assert "6 requests decided by rule, not sent; what they would have cost is unknown" in text
    assert "$0" not in text.partition("decided by rule")[2]


def test_without_a_checker_nothing_is_decided(studio):
    studio.must("candidates", painter="artist")
    rows = studio.table("candidates", "artist")
    assert set(rows["check"]) == {"unchecked"}
    assert rows["decided_by"].isna().all()

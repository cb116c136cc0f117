"""What a judge at a provider is sent, and that nothing is sent twice."""

from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from resources.models.requests import LookRequest, Turn, compute_call_keys
from tests.assets.vhexpansion.cases import answers, blind_answers, case, clean_answers, perturbed
from tests.providers import Provider
from tests.providers.pictures import png
from tests.resources.models.conftest import client_at, closed, model

FORMAT = " Answer in curly brackets, e.g., {Yes} or {No}."


def answer(received):
    """Yes to what is not negated; nothing clear about animal 1, and no help with animal 2."""
    question = received.texts[-1]
    assert question.endswith(FORMAT)
    if "kind 2" in question:
        return "I cannot help with that."
    if "kind 1" in question:
        return "There is {None}."
    return "It is not so: {No}." if " no " in question else "Yes."


@pytest.fixture
def server():
    with Provider(answer=answer) as provider:
        yield provider


@pytest.fixture
def client(tmp_path):
    found = client_at(tmp_path)
    yield found
    closed(found)


@pytest.fixture
def judge(server):
    return model(server, "openai_compatible", roles=["judge"])


@pytest.fixture
def zoo(client):
    """Three cases with their pictures."""
    return [case(n, sha256=client.images.put(png(f"animal {n}"))) for n in range(3)]


@pytest.fixture
def noisy(client):
    return perturbed("image 0", sha256=client.images.put(png("noise")))


def test_replies_are_answers_or_say_why_not(client, judge, zoo):
    rows = answers(judge, zoo, models=client, repeats=1)
    ended = {(row["case_id"], row["form"]): (row["answer"], row["outcome"]) for row in rows}
    assert ended == {
        ("zoo/0", "original"): ("yes", "answered"),
        ("zoo/0", "negated"): ("no", "answered"),
        ("zoo/1", "original"): (None, "unparsed"),
        ("zoo/1", "negated"): (None, "unparsed"),
        ("zoo/2", "original"): (None, "refused"),
        ("zoo/2", "negated"): (None, "refused"),
    }
    assert {row["refusal"] for row in rows if row["outcome"] == "refused"} == {"model"}
    assert all(len(row["calls"]) == 1 for row in rows)
    assert {row["correct"] for row in rows} == {True, None}


def test_nothing_is_sent_twice(client, judge, server, zoo, noisy):
    sent = Counter()

    def asked(what, rows):
        sent[what] = server.count - sum(sent.values())
        return rows

    asked("clean", clean_answers(judge, zoo, client))
    asked("all", answers(judge, zoo, models=client))
    asked("the same again", answers(judge, zoo, models=client))
    asked("clean again", clean_answers(judge, zoo, client))
    asked("a perturbation more", answers(judge, zoo, [noisy], client))
    asked("a repeat more", answers(judge, zoo, [noisy], client, repeats=4))
    assert sent == {
        "clean": 3 * 3,
        "all": 3 * 3,
        "the same again": 0,
        "clean again": 0,
        "a perturbation more": 2 * 3,
        "a repeat more": 2 * 3 + 2,
    }


def test_a_blind_question_is_asked_once_whatever_the_picture(client, judge, server, zoo):
    again = case(0, sha256=zoo[1]["sha256"], case_id="zoo/larger")
    rows = blind_answers(judge, [*zoo, again], client)
    assert server.count == len(zoo)
    assert not any(received.images for received in server.received)
    assert {received.texts[-1] for received in server.received} == {
        "The image is hidden. Give the answer you expect. Is there an animal of kind "
        f"{number}?{FORMAT}"
        for number in range(3)
    }
    assert [row["outcome"] for row in rows] == ["answered", "unparsed", "refused", "answered"]
    assert {row["sha256"] for row in rows} == {None}
    blind_answers(judge.model_copy(update={"blind": "grey"}), zoo, client)
    (grey,) = {received.images for received in server.received[len(zoo) :]}
    assert Image.open(BytesIO(grey[0])).getcolors() == [(64 * 64, (128, 128, 128))]


def test_the_first_repeat_is_the_request_of_vlmbias_for_the_same_question(client, judge, zoo):
    (row,) = answers(judge, zoo[:1], models=client, repeats=1, forms=["original"])
    asked = LookRequest((Turn("user", f"{zoo[0]['question']}{FORMAT}", (zoo[0]["sha256"],)),))
    assert row["calls"] == compute_call_keys(judge, [asked])

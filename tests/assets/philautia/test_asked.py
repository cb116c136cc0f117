"""What models at a provider are sent, and that a new one costs its row and its column alone."""

from collections import Counter

import pytest

from generators.prompts.captioning import write_caption_prompt, write_score_prompt
from resources.models.requests import LookRequest, Turn, compute_call_keys
from tests.assets.philautia.galleries import captions, picture, rated, scores
from tests.providers import Provider
from tests.providers.pictures import png
from tests.resources.models.conftest import client_at, closed, model

RIGHT = "A brown dog runs."


def answer(received):
    """A caption that says who wrote it; scores that are no score where the caption says so."""
    words = received.texts[-1]
    if words == write_caption_prompt():
        return f"A dog, says {received.model}."
    for trap, said in TRAPS.items():
        if trap in words:
            return said
    return '{"score": 70}'


TRAPS = {
    "trap: words": "I find this caption rather good.",
    "trap: above": '{"score": 140}',
    "trap: below": '{"score": -1}',
    "trap: several": '{"score": 10} or {"score": 20}',
    "trap: half": '{"score": 70.5}',
    "trap: declines": "I cannot help with that.",
    "trap: nothing": "",
}


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
def zoo(client):
    """Four pictures, of which one has a caption that is known to be right."""
    digests = [client.images.put(png(f"animal {n}")) for n in range(4)]
    return [picture(n, *([RIGHT] if n == 0 else []), sha256=d) for n, d in enumerate(digests)]


def at(server, name):
    known = {"name": name, "model": f"{name}-1", "roles": ["captioner", "judge"]}
    return model(server, "openai_compatible", **known)


def matrix(models, zoo, client):
    """All captions by all models, and all scores of all."""
    written = {each.name: captions(each, zoo, client) for each in models}
    return [row for each in models for row in scores(each, zoo, written, client, others=models)]


def test_a_new_model_costs_its_row_and_its_column_and_nothing_costs_twice(server, client, zoo):
    sent = Counter()

    def asked(what, rows):
        sent[what] = server.count - sum(sent.values())
        return rows

    three = [at(server, name) for name in ("ann", "bob", "cid")]
    images, judged = len(zoo), len(zoo) + 1  # one picture is asked about in both settings
    rows = asked("two", matrix(three[:2], zoo, client))
    assert len(rows) == 2 * 2 * judged
    asked("two again", matrix(three[:2], zoo, client))
    rows = asked("a third", matrix(three, zoo, client))
    assert len(rows) == 3 * 3 * judged
    asked("three again", matrix(three, zoo, client))
    assert sent == {
        "two": 2 * images + 2 * 2 * judged,
        "two again": 0,
        # Its captions; what the others give them; what it gives all.
        "a third": images + 2 * judged + 3 * judged,
        "three again": 0,
    }
    assert {row["score"] for row in rows} == {70}


def test_who_wrote_a_caption_is_not_said(server, client, zoo):
    one, other = at(server, "ann"), at(server, "bob")
    written = {each.name: captions(each, zoo[:1], client) for each in (one, other)}
    rows = scores(one, zoo[:1], written, client, others=[other])
    assert [(row["generator"], row["setting"]) for row in rows] == [
        ("ann", "reference_free"),
        ("ann", "reference_based"),
        ("bob", "reference_free"),
        ("bob", "reference_based"),
    ]
    words = [write_score_prompt(row["caption"]) for row in written["bob"]]
    based = [write_score_prompt(row["caption"], [RIGHT]) for row in written["bob"]]
    asked = [LookRequest((Turn("user", each, (zoo[0]["sha256"],)),)) for each in (*words, *based)]
    assert [key for row in rows[2:] for key in row["calls"]] == compute_call_keys(one, asked)
    assert RIGHT in based[0]
    assert RIGHT not in words[0]


@pytest.mark.parametrize(
    ("trap", "outcome", "said"),
    [
        ("words", "unparsed", 'no JSON with a "score"'),
        ("above", "unparsed", "140, not from 0 to 100"),
        ("below", "unparsed", "-1, not from 0 to 100"),
        ("several", "unparsed", "several scores"),
        ("half", "unparsed", "no whole number"),
        ("declines", "refused", "declines in words"),
        ("nothing", "unparsed", ""),
    ],
)
def test_what_is_no_score_is_none_and_says_why(server, client, zoo, trap, outcome, said):
    people = [rated(1, f"trap: {trap}", 3, sha256=zoo[1]["sha256"])]
    (row,) = scores(at(server, "ann"), zoo, {}, client, people)
    assert (row["score"], row["outcome"]) == (None, outcome)
    assert said in row["reason"]
    assert row["human_score"] == 3
    assert row["generator"] is None

"""A pipeline of several models: a change asks for what depends on it, and for nothing else."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from resources.models.requests import EditRequest, LookRequest, PaintRequest, Turn, WriteRequest
from tests.resources.models.conftest import CANARY, LOG, client_at, closed, looks, model, png

BACKENDS = pytest.mark.parametrize("backend", ["openai", "gemini"])
SUBJECTS = 5


@pytest.fixture
def asks(server, client):
    """Ask a model for something; what reached the provider for it, by the model's id."""

    def asks(entry, requests):
        before = server.count
        outcomes = client.ask(entry, requests, LOG).outcomes
        return outcomes, Counter(received.model for received in server.received[before:])

    return asks


def prompts(asks, writer):
    turns = [(Turn("user", f"Describe animal {number}."),) for number in range(SUBJECTS)]
    outcomes, sent = asks(writer, [WriteRequest(turn) for turn in turns])
    return [f"{number}: {outcome.text}" for number, outcome in enumerate(outcomes)], sent


def pictures(asks, painter, wanted):
    outcomes, sent = asks(painter, [PaintRequest(prompt) for prompt in wanted])
    return [digest for outcome in outcomes for digest in outcome.images], sent


def verdicts(asks, judge, shown, question="How many legs?"):
    return asks(judge, [LookRequest((Turn("user", question, (digest,)),)) for digest in shown])


@BACKENDS
def test_a_change_asks_for_what_depends_on_it_and_nothing_else(server, asks, backend):
    writer, judge = (model(server, backend, model=name) for name in ("writer", "judge"))
    old, new = (model(server, backend, model=name) for name in ("test-image-1", "test-image-2"))

    wanted, sent = prompts(asks, writer)
    assert sent == {"writer": SUBJECTS}
    shown, sent = pictures(asks, old, wanted)
    assert sent == {"test-image-1": SUBJECTS}
    assert len(set(shown)) == SUBJECTS
    _, sent = verdicts(asks, judge, shown)
    assert sent == {"judge": SUBJECTS}

    everything = server.count
    assert prompts(asks, writer) == (wanted, {})
    assert pictures(asks, old, wanted) == (shown, {})
    assert verdicts(asks, judge, shown)[1] == {}
    assert server.count == everything

    # A new painter: no writer's request and none of the old painter's.
    assert prompts(asks, writer) == (wanted, {})
    others, sent = pictures(asks, new, wanted)
    assert sent == {"test-image-2": SUBJECTS}
    assert verdicts(asks, judge, shown + others)[1] == {"judge": SUBJECTS}

    # A new question of the judge: no image is made.
    assert pictures(asks, old, wanted) == (shown, {})
    assert verdicts(asks, judge, shown, "Count the legs.")[1] == {"judge": SUBJECTS}

    # One prompt edited by hand: one picture, one verdict.
    wanted[3] = "A hen with three legs"
    changed, sent = pictures(asks, old, wanted)
    assert sent == {"test-image-1": 1}
    assert [place for place in range(SUBJECTS) if changed[place] != shown[place]] == [3]
    assert verdicts(asks, judge, changed)[1] == {"judge": 1}


def test_answers_are_known_whatever_their_order_and_company(server, client, tmp_path):
    client.ask(model(server), looks(20), LOG)
    closed(client)
    again = client_at(tmp_path)
    asked = again.ask(model(server), [*looks(5, start=15)[::-1], *looks(5, start=18)], LOG)
    closed(again)
    assert (asked.already_stored, asked.sent) == (5, 3)
    assert server.count == 23


@BACKENDS
def test_painters_and_editors_get_words_and_pictures_and_no_name_of_either(
    server, client, tmp_path, backend
):
    """Looked for in every byte of the request, headers and the parts of a form included."""
    digest = client.images.put(png("green"))
    stored = tmp_path / "images" / digest[:2] / f"{digest}.png"
    assert stored.exists()
    entry = model(server, backend, model="test-image-1", name="canary_name", family="canary_kin")
    client.ask(entry, [PaintRequest("A hen", seed=90210, sample=77003141)], LOG)
    edits = [
        EditRequest("Add a leg", (digest,), sample=77003142),
        EditRequest("Join", (digest, digest)),
    ]
    client.ask(entry, [replace(each, seed=90211) for each in edits], LOG)
    assert server.count == 3
    for received in server.received:
        headers = json.dumps(dict(received.headers)).replace(CANARY, "")
        sent = received.path.encode() + headers.encode() + received.body
        for word in (digest, digest[:16], stored.name, str(tmp_path), "canary", "77003"):
            assert word.encode() not in sent, word
        assert received.texts in {("A hen",), ("Add a leg",), ("Join",)}
        assert set(received.images) <= {png("green")}

"""Answers that were stored with a device in their key still answer, on whichever device."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from resources.models.catalog import Model
from resources.models.legacy_keys import stored_keys
from resources.models.outcomes import Answered
from resources.models.requests import Look, Paint, Turn, call_keys
from tests.resources.models.conftest import LOG, client_at

STORED = Path(__file__).with_name("calls_with_device.sql")
"""Written when a local model's `device` was in the key of its answers."""
RED = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000010000000100802000000909168360000001949444154789c633c21"
    "27c7400a602249f5a886510d434a03004f1f0124718c35980000000049454e44ae426082"
)


def entry(backend, role, *, devices=(), **parameters):
    return Model(
        name="local",
        backend=backend,
        model="tiny/local",
        family="tiny",
        roles=(role,),
        parameters=parameters,
        devices=devices,
    )


def judge(**parameters):
    return entry("transformers", "judge", batch=2, max_new_tokens=8, **parameters)


def look(number):
    return Look((Turn("user", f"How many legs has animal {number}?", ("0" * 64,)),))


@pytest.fixture
def client(tmp_path):
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as database:
        database.executescript(STORED.read_text())
    client = client_at(tmp_path)
    yield client
    client.close()


@pytest.mark.parametrize("parameters", [{}, {"device": "cuda:0"}, {"device": "cpu"}])
def test_what_was_answered_on_any_device_or_none_is_asked_of_nobody(client, parameters):
    asked = client.ask(judge(**parameters), [look(1), look(2), look(3), look(1)], LOG)
    assert (asked.known, asked.sent) == (3, 0)
    assert [outcome.text for outcome in asked.outcomes] == [
        "{4} on the first GPU",
        "{4} on the second GPU",
        "{4} wherever",
        "{4} on the first GPU",
    ]
    # Tables name the calls behind their rows: those that are stored.
    assert client.calls.holds(key for keys in asked.keys for key in keys) == {
        key for (key,) in asked.keys
    }


@pytest.mark.parametrize("devices", [(), ("cuda:3", "cuda:4")])
def test_so_is_a_picture_of_a_painter_that_has_several_devices_now(client, devices):
    client.images.put(RED)
    painter = entry("diffusers", "painter", devices=devices, num_inference_steps=2)
    asked = client.ask(painter, [Paint("a red square", 7)], LOG)
    assert (asked.known, asked.sent) == (1, 0)
    assert isinstance(asked.outcomes[0], Answered)


def test_a_new_answer_has_no_device_in_its_key_and_other_parameters_are_others(client):
    model, new = judge(device="cuda:1"), [look(4), look(5)]
    assert stored_keys(client.calls, model, new) == call_keys(judge(), new) == call_keys(model, new)

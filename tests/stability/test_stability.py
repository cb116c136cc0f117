"""What docs/stability.md promises of version 1: names, keys of answers, and files of before.

answers.cassette and store.sql were written once, by 1.0.0, and are never written anew.
"""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from resources.calls import CallStore
from resources.cassette import import_cassette
from resources.models.catalog import Model
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
    compute_call_keys,
)
from resources.storage.image_store import ImageStore
from tests.stability.promises import FILE, list_names

FOLDER = Path(__file__).parent
PICTURE = "69b8b6066a9c9dcb01e291f1086eea2b28fe361dede408c545deef9f3e125f9d"
LOOK = (Turn("system", "Ü"), Turn("user", "How many legs? 🇳🇵", (PICTURE,)))
SERVER = {"base_url": "http://127.0.0.1:1/v1"}
REQUESTS = {
    "1829978cbb78e5ca11ee66e486cf6759c5c62ce7069b3308710af456419e3e0a": (
        ("openai_compatible", "judge", {"max_tokens": 900, "temperature": 1.0}, SERVER),
        LookRequest(LOOK),
    ),
    "7ba856d8d94f195cdd7019af763b9639d0da7c6a836e6dc43e99531993a10c38": (
        ("openai", "writer", {}, {}),
        WriteRequest((Turn("user", "A concept."),), '{"type": "object"}', 2),
    ),
    "ec999853e0c50d909b940ca036cd369c2c94a8e9b0446783d6cb9b8bde455525": (
        ("gemini", "painter", {}, {}),
        PaintRequest("A dog.", seed=7),
    ),
    "c5f3f922df2a093c94d2a8243536fdb96bfc7e58d12e5154515b9dc918910fd3": (
        ("openai", "editor", {"quality": "high"}, {}),
        EditRequest("Add a leg.", (PICTURE,)),
    ),
    "d2f8dc0b93e11b44e094a565a331e8d1708ab593e17cc914f53750d9a9f21e27": (
        ("transformers", "metric", {"formula": "clip_score", "device": "cuda:1"}, {}),
        ScoreRequest("A dog.", PICTURE),
    ),
}
CANONICAL = (
    '{"backend":"gemini","kind":"paint","model":"model-1","parameters":{},'
    '"request":{"prompt":"A dog.","sample":0,"seed":7}}'
)


def find_missing(promised, present, path=""):
    """The promised names that are not present, each with its path."""
    for name, inner in promised.items():
        for lost in {*inner} - {*present.get(name, ())}:
            yield f"{path}{name}: {lost}"


def list_changes(promised, names):
    """What is gone, and what is new, by kind."""
    kinds = {*promised, *names}
    gone = [m for k in kinds for m in find_missing(promised.get(k, {}), names.get(k, {}), f"{k}, ")]
    new = [m for k in kinds for m in find_missing(names.get(k, {}), promised.get(k, {}), f"{k}, ")]
    return sorted(gone), sorted(new)


def test_no_promised_name_is_gone_and_each_new_one_is_promised():
    gone, new = list_changes(json.loads(FILE.read_text()), list_names())
    assert gone == [], "docs/stability.md: these stay until version 2"
    assert new == [], "run python -m tests.stability.promises, and name it in CHANGELOG.md"


def test_a_lost_option_column_or_command_is_noticed():
    promised = json.loads(FILE.read_text())
    for kind in promised:
        for name, inner in promised[kind].items():
            fewer = {**promised, kind: {**promised[kind], name: inner[1:]}}
            assert list_changes(promised, fewer) == ([f"{kind}, {name}: {inner[0]}"], [])
            assert list_changes(fewer, promised) == ([], [f"{kind}, {name}: {inner[0]}"])


@pytest.mark.parametrize("key", [*REQUESTS])
def test_the_key_of_an_answer_is_the_same(key):
    (backend, role, parameters, more), request = REQUESTS[key]
    entry = {"name": "any", "family": "other", "key": "ANY_KEY"} if backend == "openai" else {}
    model = Model(
        **{"name": "m", "family": "some", **entry, **more},
        backend=backend,
        model="model-1",
        roles=(role,),
        parameters=parameters,
    )
    assert compute_call_keys(model, [request]) == [key]
    if backend == "gemini":
        assert sha256(CANONICAL.encode()).hexdigest() == key


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "calls.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((FOLDER / "store.sql").read_text())
    calls = CallStore(url=f"sqlite:///{path}")
    yield calls
    calls.close()


def read_answers(calls):
    return {call.key: call for call in calls.iterate_calls(calls.iterate_keys())}


def test_a_store_of_1_0_0_is_read_and_written(store):
    answers = read_answers(store)
    assert {*answers} == {*REQUESTS}
    look, write, paint, edit, score = (answers[key].answer for key in REQUESTS)
    assert (look["text"], write["outcome"], score["score"]) == ("{5}", "refused", 0.25)
    assert paint["images"] == edit["images"]
    store.keep([])
    assert store.holds(REQUESTS) == {*REQUESTS}


def test_a_cassette_of_1_0_0_is_imported(store, tmp_path):
    images = ImageStore(root=str(tmp_path / "home"))
    calls = CallStore(url=f"sqlite:///{tmp_path}/other.sqlite")
    import_cassette(FOLDER / "answers.cassette", calls, images, tmp_path / "home" / "reviews")
    answers = read_answers(calls)
    assert answers == read_answers(store)
    [painted] = {name for call in answers.values() for name in call.answer.get("images", ())}
    assert sha256(images.get(painted)).hexdigest() == painted
    calls.close()

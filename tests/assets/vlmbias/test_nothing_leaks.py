"""A model gets words and a picture: every request of a run over all topics, looked through."""

import io
import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.vlmbias.prompting import DOUBLE_CHECK, VARIANTS
from assets.vlmbias.questions import QUESTIONS
from generators.domains import load_domains
from generators.worker_jobs import DrawJob, draw_png
from resources.storage.image_store import ImageStore
from tests.assets.asked import JUDGE, judge_at
from tests.runs import checks, failure, materialize, table

KEY = "sk-canary-5d1f0c"
HIDDEN = (
    *("image_id", "base_id", "subtopic", "variant", "image_set"),
    *("painter", "review", "target", "ground_truth", "expected_bias"),
)
"""Columns of the questions of which no model may see anything."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A counterfactual and an original of every topic, asked with a canary in every column.

    The questions' own words, the pictures and the subject (which its title shows) stay as they are.
    """
    root = tmp_path_factory.mktemp("planted")
    images = ImageStore(root=str(root))
    for name, domain in load_domains().items():
        rows = []
        scenes = domain.draw_module.list_scenes(0)
        for scene in (scenes[0], *[each for each in scenes if each.variant == "original"][-1:]):
            digest = images.put(draw_png(DrawJob(name, scene, 384)))
            for question in domain.ask_module.write_questions(scene):
                rows.append(
                    {column: f"canary-{column}-{len(rows)}" for column in HIDDEN}
                    | {
                        "sha256": digest,
                        "domain": name,
                        "subject": scene.subject,
                        "size": 384,
                        "seed": 77003141,
                        "is_stand_in": False,
                        "question_id": question.question_id,
                        "question": question.text,
                        "accepted": ["canary-name"] if question.accepted else [],
                    }
                )
        path = table(root, "questions", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(QUESTIONS.build_table(rows), path)
    return root


@pytest.fixture(params=["openai", "gemini"])
def asked(request, planted, server, monkeypatch, tmp_path):
    """What a provider received, the answers, and the data root, after a run of all variants."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("COUNTERFACTORY_CALLS", f"sqlite:///{tmp_path}/calls.sqlite")
    url = server.url if request.param == "gemini" else server.openai_url
    judge = judge_at(server, backend=request.param, base_url=url, key="OPENAI_API_KEY")
    tables = []
    for topic in load_domains():
        result = materialize(planted, JUDGE, topic=topic, models=[judge], prompting=list(VARIANTS))
        assert result.success, failure(result)
        assert checks(result)["every_row_ended"]
        assert checks(result)["nothing_failed"]
        tables.append(pd.read_parquet(table(planted, JUDGE, topic)))
    return server.received, pd.concat(tables, ignore_index=True), planted, tmp_path


def test_the_prompt_and_the_picture_are_all_there_is(asked):
    received, answers, root, beside = asked
    assert set(answers["domain"]) == set(load_domains())
    put = answers.groupby("prompting")["question_id"].agg(set).to_dict()
    assert put.pop("baseline") == {"Q1", "Q2", "Q3", "N1", "N2"}
    # Isolated are scenes of the benchmark, which canaries are not.
    assert put == {name: {"Q1", "Q2"} for name in set(VARIANTS) - {"baseline", "isolated"}}

    images = ImageStore(root=str(root))
    expected = set()
    for row in answers.itertuples():
        picture, first = images.get(row.shown_sha256), row.prompt.split("\n\n")[0]
        expected.add(((first,), (picture,)))
        if row.prompting == "double-check":
            expected.add(((first, row.first_response, DOUBLE_CHECK), (picture,)))
    assert {(each.texts, each.images) for each in received} == expected
    assert len(received) == len(expected)
    for picture in {picture for each in received for picture in each.images}:
        with Image.open(io.BytesIO(picture)) as image:
            assert image.info == {}
    for each in received:
        _assert_only_messages(json.loads(each.body))

    digests = set(answers["sha256"]) | set(answers["shown_sha256"])
    telling = {"canary-", "77003141", ".png", str(root), *digests, *load_domains()}
    telling |= {"baseline", "debiased", "in-image", "isolated"}
    for each in received:
        headers = "\n".join(f"{name}: {value}" for name, value in each.headers.items())
        sent = _without_pictures(each.body) + headers.replace(KEY, "")
        assert not [word for word in telling if word in sent]

    kept = [path for folder in (root, beside) for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def _assert_only_messages(body):
    """Nothing beside the model's name and a conversation of texts and pictures, in either wire."""
    if "messages" in body:
        assert set(body) == {"model", "messages"}
        for message in body["messages"]:
            assert set(message) == {"role", "content"}
            parts = message["content"] if isinstance(message["content"], list) else []
            for part in parts:
                assert set(part) in ({"type", "text"}, {"type", "image_url"})
                assert set(part.get("image_url", {})) <= {"url"}
    else:
        assert set(body) == {"contents", "generationConfig"}
        assert body["generationConfig"] == {}
        for content in body["contents"]:
            assert set(content) == {"role", "parts"}
            for part in content["parts"]:
                assert set(part) in ({"text"}, {"inlineData"})
                assert set(part.get("inlineData", {})) <= {"mimeType", "mime_type", "data"}


def _without_pictures(body):
    """A request's body as text, what is longer than any prompt left out."""
    strings = []

    def walk(value):
        if isinstance(value, dict):
            strings.extend(value)
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                walk(each)
        elif len(str(value)) < 2000:
            strings.append(str(value))

    walk(json.loads(body))
    return "\n".join(strings)

"""What a judge is sent, held against the questions themselves and not against what a run says."""

import pytest

from assets.vlmbias.prompting import VARIANTS
from tests.assets.asked import ask, judge_at, questions

DEBIASED = (
    "Do not assume from prior knowledge and answer only based on what is visible in the image."
)
DOUBLE_CHECK = (
    "Please double-check your answer and give your final answer in curly brackets, following the "
    "format above."
)
HEADERS = {
    *("accept", "accept-encoding", "connection", "content-length", "content-type", "host"),
    "user-agent",
}


@pytest.mark.parametrize(
    ("backend", "path", "key"),
    [
        ("openai", "/v1/chat/completions", ("authorization", "Bearer sk-for-tests")),
        ("gemini", "/v1beta/models/some-vlm-1:generateContent", ("x-goog-api-key", "sk-for-tests")),
    ],
)
def test_its_words_are_the_question_and_its_headers_those_of_any(root, server, backend, path, key):
    url = server.url if backend == "gemini" else server.openai_url
    judge = judge_at(server, backend=backend, base_url=url, key="OPENAI_API_KEY")
    assert ask(root, judge, *VARIANTS).success
    rows = questions(root)
    put = set(rows[rows["question_id"].isin(["Q1", "Q2"])]["question"])
    known = set(rows["question"])
    assert len(known) > len(put) > 0
    assert {each.texts for each in server.received} == {
        *((text,) for text in known),
        *((f"{DEBIASED} {text}",) for text in put),
        *((text, "I see {8}.", DOUBLE_CHECK) for text in put),
    }
    for each in server.received:
        assert each.path == path
        assert set(each.headers) <= HEADERS | {key[0]}
        assert each.headers[key[0]] == key[1]
        assert len(each.images) == 1
    for header in HEADERS - {"content-length"}:
        assert len({each.headers.get(header) for each in server.received}) == 1


def test_of_a_question_that_is_asked_plainly_the_picture_is_the_file_that_was_drawn(
    root, judge, server
):
    assert ask(root, judge).success
    digests = set(questions(root)["sha256"])
    images = (root / "images").rglob("*.png")
    drawn = {path.read_bytes() for path in images if path.stem in digests}
    asked = {(row.question, row.sha256) for row in questions(root).itertuples()}
    assert len(server.received) == len(asked)
    assert {each.images[0] for each in server.received} == drawn

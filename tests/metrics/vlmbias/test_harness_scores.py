"""Other harnesses' scores, restated: against their packages' verdicts on awkward replies.

`tests/test_harness_scorers.py` runs the packages again, and holds docs/scorers.md to the replies.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from metrics import read_count, read_yes_no
from metrics.vlmbias.harness_scores import (
    HARNESSES,
    Verdict,
    explain_difference,
    score_by_outcome,
)

REPLIES = json.loads(Path(__file__).with_name("harness_replies.json").read_text("utf-8"))["replies"]
WORDS = {
    "right": Verdict(True, False),
    "biased": Verdict(False, True),
    "neither": Verdict(False, False),
}
READERS = {"count": read_count, "yes_no": read_yes_no}


def read_ours(item):
    """Our reading of a reply, and the verdict by it: None where there is no score."""
    parsed = READERS[item["kind"]](item["reply"])
    return parsed, score_by_outcome(*parsed, item["truth"], item["bias"])


def test_there_are_enough_replies_of_every_kind():
    assert len({(item["kind"], item["reply"]) for item in REPLIES}) == len(REPLIES) >= 300
    kinds = Counter(item["kind"] for item in REPLIES)
    assert min(kinds.values()) >= 100
    assert {item["ours"] for item in REPLIES} == {*WORDS, "unparsed", "refused"}


@pytest.mark.parametrize("harness", HARNESSES)
def test_each_is_restated_letter_for_letter(harness):
    verdicts = [HARNESSES[harness](item["reply"], item["truth"], item["bias"]) for item in REPLIES]
    assert verdicts == [WORDS[item[harness]] for item in REPLIES]


def test_our_verdicts_are_those_recorded():
    for item in REPLIES:
        parsed, verdict = read_ours(item)
        if parsed.answer is None:
            assert parsed.outcome == item["ours"], item
        else:
            assert verdict == WORDS[item["ours"]], item


def test_a_refusal_has_no_verdict():
    assert score_by_outcome(None, "refused", "5", "4") is None
    assert score_by_outcome(None, "failed", "5", "4") is None
    assert score_by_outcome(None, "unparsed", "5", "4") == Verdict(False, False)
    assert score_by_outcome("4", "answered", "5", "4") == Verdict(False, True)


@pytest.mark.parametrize(
    ("harness", "reply", "reason"),
    [
        ("lmms-eval", "I'm sorry, I can't help with that.", "counts a refusal as a wrong answer"),
        ("lmms-eval", "5 stripes", "reads an answer without brackets"),
        ("lmms-eval", "It could be {5} or {6}. Looking again: {5}", "joins all digits"),
        ("VLMEvalKit", "{five}", "reads no number in words"),
        ("evalscope", "Cell 5 has no dots: {zero}", "takes all digits of the reply, joined, for"),
        ("inspect_ai", "{5} or {6}", "takes the first brackets of a reply that has not decided"),
        ("inspect_ai", "<think>{5}</think>{4}", "takes the first of several brackets"),
        ("inspect_ai match", "{15}", "takes the last number"),
        ("inspect_ai match", "Not {4} but {5}", "takes what a reply that has not decided"),
        ("inspect_ai match", "{five}", "compares the end"),
        ("inspect_ai", "{5.0}", "compares the first brackets letter by letter"),
    ],
)
def test_a_difference_is_explained(harness, reply, reason):
    parsed = read_count(reply)
    verdict = HARNESSES[harness](reply, "5", "4")
    assert explain_difference(harness, reply, *parsed, verdict).startswith(reason)


@pytest.mark.parametrize(("answer", "other"), [("Yes", "No"), ("No", "Yes")])
def test_words_beside_yes_or_no_are_explained(answer, other):
    reply = f"The answer is {{{answer}}}."
    verdict = HARNESSES["lmms-eval"](reply, answer, other)
    assert explain_difference("lmms-eval", reply, *read_yes_no(reply), verdict) == (
        "compares the whole reply, so that any word beside Yes or No is wrong"
    )


def test_digits_apart_are_one_number():
    reply = "1 on the left and 5 on the right"
    assert HARNESSES["VLMEvalKit"](reply, "15", "14") == Verdict(True, False)
    assert HARNESSES["lmms-eval"](reply, "14", "15") == Verdict(False, True)

"""Tokens of a row: sums over its conversation, unknown where any part of them is."""

import pytest

from assets.kit.conditions import condition_cells
from assets.kit.token_counts import token_cells
from resources.models.outcomes import (
    AnsweredOutcome,
    FailedOutcome,
    MalformedOutcome,
    RefusedOutcome,
)
from resources.models.replies import Usage


def answer(output, **provenance):
    return AnsweredOutcome("{5}", usage=Usage(10, output), provenance=provenance or None)


@pytest.mark.parametrize(
    ("outcomes", "tokens", "thinking"),
    [
        ([], None, None),
        ([answer(40)], 40, None),
        ([answer(40, thought_tokens=0)], 40, 0),
        ([answer(40, thought_tokens=30), answer(600, thought_tokens=570)], 640, 600),
        ([answer(40, thought_tokens=30), answer(600)], 640, None),
        ([answer(None, thought_tokens=30)], None, 30),
        ([answer(40), FailedOutcome("deadline", "late", 3)], None, None),
        ([RefusedOutcome("model", "no", usage=Usage(1, 7))], 7, None),
        ([MalformedOutcome("none", "", usage=Usage(1, 9))], 9, None),
        ([answer(40, thought_tokens=True)], 40, None),
        ([answer(40, thought_tokens=-1)], 40, None),
    ],
)
def test_what_is_not_said_is_unknown_and_never_0(outcomes, tokens, thinking):
    assert token_cells(outcomes) == {"output_tokens": tokens, "thinking_tokens": thinking}


def test_tokens_are_no_condition_of_an_answer():
    cells = condition_cells(answer(40, thought_tokens=30, engine="vLLM"))
    assert cells["conditions"] == '{"engine": "vLLM"}'

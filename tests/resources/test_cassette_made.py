"""How a local model made something travels in a cassette, and nothing else in its place."""

import json

import pytest

from resources.cassette.layout import call_in, line_of
from tests.resources.cassettes import answered, edited, looked

MADE = {"device": "cuda (NVIDIA ü)", "batch": [["a" * 64, 7], ["b" * 64, 8]], "commit": None}


def line(made):
    call = looked(1)
    told = json.loads(line_of(call))
    return edited(line_of(call), answer={**told["answer"], "made": made})


def test_how_it_was_made_comes_back_as_it_was():
    call = call_in(line(MADE))
    assert call.answer == answered("{8}") | {"made": MADE}
    assert call_in(line_of(call)) == call


@pytest.mark.parametrize("made", [None, "by hand", [], ["cuda"]])
def test_what_is_no_json_object_is_not_taken(made):
    with pytest.raises(ValueError, match=r"answer\.answered\.made"):
        call_in(line(made))


def test_a_number_that_reads_as_infinite_is_not_taken():
    with pytest.raises(ValueError, match="1e999 is larger than any number"):
        call_in(line({"steps": 1}).replace(b'"steps": 1', b'"steps": 1e999'))

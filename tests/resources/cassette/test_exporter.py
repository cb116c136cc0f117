"""How a local model made something travels in a cassette, and nothing else in its place."""

import json

import pytest

from resources.cassette.archive_format import decode_call, encode_call
from tests.resources.cassette.cassettes import answered, edited, looked

MADE = {"device": "cuda (NVIDIA ü)", "batch": [["a" * 64, 7], ["b" * 64, 8]], "commit": None}


def line(made):
    call = looked(1)
    told = json.loads(encode_call(call))
    return edited(encode_call(call), answer={**told["answer"], "provenance": made})


def test_how_it_was_made_comes_back_as_it_was():
    call = decode_call(line(MADE))
    assert call.answer == answered("{8}") | {"provenance": MADE}
    assert decode_call(encode_call(call)) == call


@pytest.mark.parametrize("made", [None, "by hand", [], ["cuda"]])
def test_what_is_no_json_object_is_not_taken(made):
    with pytest.raises(ValueError, match=r"answer\.answered\.provenance"):
        decode_call(line(made))


def test_a_number_that_reads_as_infinite_is_not_taken():
    with pytest.raises(ValueError, match="1e999 is larger than any number"):
        decode_call(line({"steps": 1}).replace(b'"steps": 1', b'"steps": 1e999'))

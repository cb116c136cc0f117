"""Texts that took minutes or for ever to read: every reader takes time by their length alone."""

from time import process_time

import pytest

from generators.prompts.scenery import parse_scenery
from generators.prompts.templates import SCHEMA
from metrics.reply_parsing.bracketed_answers import read_count, read_name, read_yes_no
from metrics.reply_parsing.plain_answers import read_plain_count
from metrics.reply_parsing.ratings import read_rating
from resources.models.backends.hosted_models import redact_key
from resources.models.outcomes import parse_json_answer
from resources.untrusted_input.edited_flags import extract_svg
from resources.untrusted_input.svg import BadSvg, sanitize_svg

PATIENCE_S = 15.0
"""Of the processor: hundred times what is needed, and a tenth of what these took before."""
SVG = '<svg viewBox="%s"><path fill="%s"/></svg>'


def data(text):
    with pytest.raises(ValueError, match="no JSON"):
        parse_json_answer(text, SCHEMA)


def drawing(text):
    with pytest.raises(BadSvg):
        sanitize_svg(text)


HOSTILE = {
    "backslashes": (read_count, "\\" * 100_000),
    "fonts": (read_yes_no, "\\text{" * 30_000 + "}" * 30_000),
    "names": (lambda text: read_name(text, ["Go"]), "{" + "of " * 50_000 + "x}"),
    "numbers": (read_plain_count, "5 " * 9_900),
    "a long number": (read_plain_count, "5" * 100_000),
    "spaces in a rating": (lambda text: read_rating(text, 1, 4), "{score:" + " " * 3000),
    "a long scale": (lambda text: read_rating(text, 1, 4), '{"score": "<%s>"}' % ("1" * 20_000)),
    "brackets": (lambda text: read_rating(text, 1, 4), '{"' * 300_000),
    "fences that open": (data, "x```\n" * 60_000),
    "code that opens": (extract_svg, "<code>" * 60_000),
    "code that does not": (extract_svg, "<code " * 60_000),
    "a reference": (drawing, SVG % ("0 0 9 9", "url(" + " " * 3000)),
    "references": (drawing, SVG % ("0 0 9 9", "url(" * 12_000)),
    "a size": (drawing, SVG % ("0 0 9 " + "1" * 49_000 + "x", "red")),
    "a masked key": (lambda text: redact_key(text, "a-key-of-ours"), "a" * 100_000),
    "a prompt": (parse_scenery, "a is with an " * 20_000),
}


@pytest.mark.parametrize(("read", "text"), HOSTILE.values(), ids=HOSTILE)
def test_what_was_hopeless_ends(read, text):
    began = process_time()
    read(text)
    assert process_time() - began < PATIENCE_S


def test_what_is_read_of_it_is_what_was_read_before():
    assert read_count(r"\left\{5\right\}, $\boxed{\text{5}}$, \\\{5\}").answer == "5"
    assert read_count("\\text{" * 20 + "{5}" + "}" * 20).answer == "5"
    assert read_name("{of of the flag of Go of}", ["Go"]).answer == "Go"
    assert read_rating("{ 'score' : ' 3 ' , }", 1, 4).score == 3
    assert read_rating('{"score": %s}' % ("[" * 900 + "]" * 900), 1, 4).outcome == "unparsed"
    assert extract_svg("<code a='b'><svg/></svg></code > <svg>no</svg>") == "<svg/></svg>"
    assert redact_key("is sk-ab***yz, 'a***b'", None) == "is [key] '[key]'"
    kept = sanitize_svg(SVG % ("0 0 3 2", "url( '#a' )"))
    assert 'fill="url(#a)"' in kept

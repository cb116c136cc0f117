"""Tables on Dagster's pages show what a model said as it is, and fetch nothing."""

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assets.kit.previews import escape_markdown, markdown_table

TABLES = MarkdownIt("commonmark", {"html": True}).enable("table")
FETCHING = {"image", "link_open", "html_inline", "html_block", "code_inline"}


def shown(markdown):
    """The text of each cell below the heads, and the kinds of all that is in them."""
    tokens = TABLES.parse(markdown)
    cells = [token for token in tokens if token.type == "inline"]
    kinds = {token.type for token in tokens} | {
        child.type for cell in cells for child in cell.children
    }
    return ["".join(child.content for child in cell.children) for cell in cells], kinds


@pytest.mark.parametrize(
    "said",
    [
        "![](http://127.0.0.1/x.png)",
        "\\![x](http://127.0.0.1/x.png)",
        '<img src="http://127.0.0.1/x.png">',
        "`a` ![`](http://x)` | ![](http://y)",
        "line\n\n![x][y]\n\n[y]: http://127.0.0.1/x.png",
        "<http://127.0.0.1/>",
    ],
)
def test_nothing_is_fetched_for_what_a_model_said(said):
    table = markdown_table(pd.DataFrame({"response": [said], "answer": ["5"]})).value
    (head, other, cell, answer), kinds = shown(table)
    assert not kinds & FETCHING
    assert (head, other, answer) == ("response", "answer", "5")
    assert cell == " ".join(said.split())


@given(st.text(alphabet=st.sampled_from("![]()<>`\\|\n\t &#x5b;abc:/.*_")))
@example("\\")
@settings(max_examples=200)
def test_no_text_becomes_a_picture_a_link_or_html(said):
    _, kinds = shown(
        f"| {escape_markdown(said)} | x |\n| --- | --- |\n| {escape_markdown(said)} | y |"
    )
    assert not kinds & FETCHING


def test_a_long_text_is_cut():
    assert len(escape_markdown("x" * 100_000)) == 500

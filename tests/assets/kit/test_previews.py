"""Tables on Dagster's pages show what a model said as it is, and fetch nothing."""

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assets.kit.previews import escape_markdown, inline_tables, markdown_table, plot_interval

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


def test_a_long_table_is_shown_in_parts_none_of_which_dagster_hides():
    rows = pd.DataFrame({"judge": [f"judge_{number}" for number in range(90)]})
    rows = rows.assign(rate=0.5, template="standard")
    parts = inline_tables("rates", rows, "judge", "template")
    assert [*parts] == ["rates", "rates_2", "rates_3"]
    assert all(len(part.value) < 1000 for part in parts.values())
    cells = [cell for part in parts.values() for cell in shown(part.value)[0]]
    assert cells[:4] == ["judge, template", "rate", "judge_0, standard", "0.5"]
    found = [cell for cell in cells if cell.startswith("judge_")]
    assert found == [f"{judge}, standard" for judge in rows["judge"]]
    assert len(inline_tables("long", pd.DataFrame({"said": ["x" * 450] * 3}), "said")) == 2
    assert len(inline_tables("none", rows.head(0), "judge")) == 1


@pytest.mark.parametrize(
    ("numbers", "plot"),
    [
        ((0.0, 0.0, 0.1, (0, 1)), "●─··········"),
        ((1.0, 0.8, 1.0, (0, 1)), "·········──●"),
        ((-0.1, -0.5, 0.5, (-1, 1)), "···──●───···"),
        ((7.0, 7.0, 7.0, (7, 7)), "●···········"),
    ],
)
def test_a_plot_shows_a_number_in_its_interval(numbers, plot):
    assert plot_interval(*numbers) == plot

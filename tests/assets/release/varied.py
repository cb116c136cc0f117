"""Two tables with what readers get wrong: empty cells, quotes, line ends, other scripts, lists."""

from dataclasses import replace

from assets.kit.columns import BOOLEAN, REAL, REALS, TEXT, TEXTS, WHOLE, Columns
from assets.kit.licences import OWN
from assets.kit.release_tables import ReleaseRow, ReleaseTable
from tests.assets.release.small import KEY, SHAPES, TABLE

TEXTS_TO_ASK = (
    'Is it "grey"?',
    "Two\nlines,\tand a tab",
    "Ist es größer? 灰色か",
    "{5}, not {4} | a\\b 'c'",
    "=1+1",
    "  blanks around  ",
)
COLUMNS = Columns(
    name=(TEXT, "Name of the row"),
    left=(TEXT, "First picture"),
    right=(TEXT, "Second picture; empty in half of the rows"),
    question=(TEXT, "Words | with a bar"),
    count=(WHOLE, "Empty in some rows"),
    scores=(REALS, "Numbers"),
    accepted=(TEXTS, "Right answers"),
    mean=(REAL, "Empty in some rows"),
    is_first=(BOOLEAN, "Empty in some rows"),
)


def read_rows(inputs, split):
    """Yield pairs of neighbouring squares."""
    for partition in inputs.partitions:
        rows = inputs.home.table(KEY, partition).to_dict("records")
        for index, row in enumerate(rows):
            is_even = index % 2 == 0
            cells = {
                "name": f"{split}: {row['square']}",
                "left": row["sha256"],
                "right": rows[index - 1]["sha256"] if is_even else None,
                "question": TEXTS_TO_ASK[(index + 3 * (partition == "light")) % 6],
                "count": None if is_even else int(row["shade"]),
                "scores": [0.1, 2.5][: index + 1] if index < 2 else [],
                "accepted": ["a", "größer", "a, b"] if is_even else [],
                "mean": None if is_even else row["shade"] / 7,
                "is_first": None if index == 2 else index == 0,
            }
            yield ReleaseRow(cells["name"], cells, row["square"], "people", (OWN,))


PAIRS = ReleaseTable(
    config="pairs",
    description="Pairs of squares.",
    columns=COLUMNS,
    image_columns=("left", "right"),
    sources={"left": KEY, "right": KEY},
    splits=("main", "with_title"),
    splits_are_views=True,
    read_rows=read_rows,
    id_column="name",
    prompt_column="question",
)
SQUARES = replace(
    TABLE,
    tsv_columns={"index": "id", "question": "prompt", "answer": "shade", "image": "image"},
)
VARIED = replace(SHAPES, release_tables=[SQUARES, PAIRS])


def list_cells(sources, table, split):
    """The rows' cells as stored tables have them, with the version; pictures as sha256."""
    inputs = sources.to_inputs(["dark", "light"])
    return [{**row.cells, "evaluation_version": "1"} for row in table.read_rows(inputs, split)]

"""Pictures, tables and plots on Dagster's pages."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import pandas as pd
from dagster import MarkdownMetadataValue, MetadataValue
from PIL import Image

from assets.kit.columns import to_records

MAX_THUMBNAILS, _ABREAST, _SIDE, _QUALITY = 24, 4, 128, 70
T = TypeVar("T")
_MAX_LENGTH = 500
"""Characters of a cell: the table lies in the event log."""
_MAX_INLINE, _PLOT_WIDTH = 999, 12
"""Characters of Markdown that Dagster shows without a click, and of a plot."""
_MARKUP = re.compile(r"([\\\[\]<`|])")


def contact_sheet(pictures: Sequence[tuple[str, bytes]]) -> MarkdownMetadataValue:
    """Show up to 24 pictures, evenly chosen, as small JPEGs above their captions, four in a row.

    `pictures` are captions with image files. The sheet lies in the event log, so it stays small.
    """
    chosen = sample_evenly(pictures, MAX_THUMBNAILS)
    lines = ["| " * _ABREAST + "|", "|---" * _ABREAST + "|"]
    for start in range(0, len(chosen), _ABREAST):
        row = chosen[start : start + _ABREAST]
        lines.append(f"| {' | '.join(_thumbnail(data) for _, data in row)} |")
        lines.append(f"| {' | '.join(escape_markdown(caption) for caption, _ in row)} |")
    return MetadataValue.md("\n".join(lines))


def sample_evenly(items: Sequence[T], most: int) -> list[T]:
    """Choose up to `most` items evenly, the first and the last among them."""
    count = min(most, len(items))
    return [items[round(i * (len(items) - 1) / max(1, count - 1))] for i in range(count)]


def _thumbnail(data: bytes) -> str:
    with Image.open(io.BytesIO(data)) as image:
        small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    jpeg = io.BytesIO()
    small.save(jpeg, "JPEG", quality=_QUALITY)
    return f"![](data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()})"


def markdown_table(rows: pd.DataFrame) -> MarkdownMetadataValue:
    """A small table as Markdown; cells are escaped, nulls are empty."""
    written = rows.astype(str).fillna("")
    lines = [list(rows.columns), ["---"] * len(rows.columns), *written.values.tolist()]
    cells = (" | ".join(map(escape_markdown, line)) for line in lines)
    return MetadataValue.md("\n".join(f"| {line} |" for line in cells))


def inline_tables(name: str, rows: pd.DataFrame, *labels: str) -> dict[str, MarkdownMetadataValue]:
    """A table in parts that Dagster shows without a click: `name`, then the same with a number.

    The columns `labels` become one, without what is null, since Dagster cuts off wide tables.
    """
    values = rows[[*labels]].astype(str).fillna("").itertuples(index=False)
    numbers = rows.drop(columns=[*labels])
    numbers.insert(0, ", ".join(labels), [", ".join(filter(None, row)) for row in values])
    head, rule, *lines = markdown_table(numbers).value.splitlines()
    parts = [[head, rule]]
    for line in lines:
        if len("\n".join([*parts[-1], line])) > _MAX_INLINE and len(parts[-1]) > len((head, rule)):
            parts.append([head, rule])
        parts[-1].append(line)
    names = [name, *(f"{name}_{number}" for number in range(2, len(parts) + 1))]
    return {
        name: MetadataValue.md("\n".join(part)) for name, part in zip(names, parts, strict=True)
    }


def plot_interval(value: float, low: float, high: float, limits: tuple[float, float]) -> str:
    """A number in its interval, on a line between `limits`: ··──●─······.

    Dagster plots the numbers of partitions as one line through all, as if one led to the next.
    """
    start, end = limits

    def place(number: float) -> int:
        share = (number - start) / (end - start) if end > start else 0.0
        return round(min(max(share, 0.0), 1.0) * (_PLOT_WIDTH - 1))

    signs = ["─" if place(low) <= column <= place(high) else "·" for column in range(_PLOT_WIDTH)]
    signs[place(value)] = "●"
    return "".join(signs)


def merge_intervals(rows: pd.DataFrame, *names: str, plotted: bool = False) -> pd.DataFrame:
    """The same, with each number and the ends of its interval in one cell: 0.217 (0.171 to 0.294).

    The ends of "score" are the columns "score_low" and "score_high". Wider tables than this are cut
    off by Dagster's pages. `plotted` shares stand below their plot from 0 to 1.
    """
    records = to_records(rows)
    cells = {name: [_interval(row, name, plotted=plotted) for row in records] for name in names}
    return rows.drop(columns=[f"{name}_{end}" for name in names for end in ("low", "high")]).assign(
        **cells
    )


def _interval(row: dict[str, Any], name: str, *, plotted: bool) -> str:
    number, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
    if pd.isna(number):
        return ""
    plot = f"{plot_interval(number, low, high, (0, 1))} " if plotted else ""
    return f"{plot}{number:.3f} ({low:.3f} to {high:.3f})"


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown, on one line: without pictures, links or HTML.

    What a model says is shown on Dagster's pages: a picture in it would be fetched by whoever looks
    at them. A text of more than 500 characters is cut.
    """
    line = " ".join(text.split())
    cut = line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
    return _MARKUP.sub(r"\\\1", cut)

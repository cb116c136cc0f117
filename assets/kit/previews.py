"""Images in the Dagster UI."""

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


def merge_intervals(rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The same, with each number and the ends of its interval in one cell: 0.217 (0.171 to 0.294).

    The ends of "score" are the columns "score_low" and "score_high". Wider tables than this are cut
    off by Dagster's pages.
    """
    cells = {name: [_interval(row, name) for row in to_records(rows)] for name in names}
    return rows.drop(columns=[f"{name}_{end}" for name in names for end in ("low", "high")]).assign(
        **cells
    )


def _interval(row: dict[str, Any], name: str) -> str:
    number, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
    return "" if pd.isna(number) else f"{number:.3f} ({low:.3f} to {high:.3f})"


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown, on one line: without pictures, links or HTML.

    What a model says is shown on Dagster's pages: a picture in it would be fetched by whoever looks
    at them. A text of more than 500 characters is cut.
    """
    line = " ".join(text.split())
    cut = line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
    return _MARKUP.sub(r"\\\1", cut)

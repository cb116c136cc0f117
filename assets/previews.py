"""What the Dagster UI shows of images."""

import base64
import io
from collections.abc import Sequence

import pandas as pd
from dagster import MarkdownMetadataValue, MetadataValue
from PIL import Image

_MOST, _SIDE, _QUALITY = 24, 128, 70


def contact_sheet(pictures: Sequence[tuple[str, bytes]]) -> MarkdownMetadataValue:
    """Up to 24 pictures, evenly chosen, as small JPEGs in one Markdown table of four columns.

    `pictures` are captions with image files. The sheet lies in the event log, so it stays small.
    """
    step = max(1, -(-len(pictures) // _MOST))
    cells = [f"{_thumbnail(data)}<br>{caption}" for caption, data in pictures[::step]]
    rows = ["| " + " | ".join(cells[i : i + 4]) + " |" for i in range(0, len(cells), 4)]
    return MetadataValue.md("\n".join(["| | | | |", "|---|---|---|---|", *rows]))


def _thumbnail(data: bytes) -> str:
    with Image.open(io.BytesIO(data)) as image:
        small = image.convert("RGB")
        small.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    jpeg = io.BytesIO()
    small.save(jpeg, "JPEG", quality=_QUALITY)
    return f"![](data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()})"


def markdown_table(rows: pd.DataFrame) -> MarkdownMetadataValue:
    """A small table as Markdown; bars in its cells are kept from ending them."""
    lines = [list(rows.columns), ["---"] * len(rows.columns), *rows.astype(str).values.tolist()]
    cells = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return MetadataValue.md("\n".join(f"| {line} |" for line in cells))

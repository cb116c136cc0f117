"""Questions as a release has them: with their picture's cells, proof and licensed parts."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.kit.licences import GLYPHS
from assets.kit.release_rows import list_stored, read_partition
from assets.kit.release_tables import ReleaseInputs, ReleaseRow
from assets.kit.table_asset import TablesMismatch
from assets.vlmbias.common import asset_key
from assets.vlmbias.pictures import PROOFS, list_parts
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.yes_no import format_question_name
from generators.topics import PHOTOGRAPHED

QUESTIONS_KEY, DRAWN_KEY = asset_key("questions"), asset_key("drawn_images")
_DRAWN_TABLES = ("drawn_images", "original_images")
_PICTURE_COLUMNS = ("original_id", "modification", "width", "height", "settings")
"""Columns of the pictures' tables that questions lack."""


def read_questions(inputs: ReleaseInputs) -> Iterator[dict[str, Any]]:
    """Yield each question with its `prompt`, cells of its picture and the `largest_size` there is.

    Raises `TablesMismatch` where a question's picture is no longer that of the pictures' table.
    """
    for topic in list_stored(inputs, QUESTIONS_KEY):
        pictures = _load_pictures(inputs, topic)
        for row in read_partition(inputs, QUESTIONS_KEY, topic, QUESTIONS):
            picture = pictures.get((row["image_id"], row["sha256"]))
            if picture is None:
                raise TablesMismatch(
                    f"vlmbias/questions ({topic}) asks about another picture of {row['image_id']} "
                    f"than there is now. Materialize vlmbias/questions ({topic}) again."
                )
            yield {**row, **picture, "topic": topic, "prompt": row["question"]}


def _load_pictures(
    inputs: ReleaseInputs, topic: str
) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    names = ("photographs",) if topic in PHOTOGRAPHED else _DRAWN_TABLES
    columns = ["image_id", "sha256", "size", *_PICTURE_COLUMNS]
    tables = [inputs.home.table(asset_key(name), topic, columns) for name in names]
    pictures = pd.concat(tables, ignore_index=True)
    pictures["largest_size"] = pictures.pop("size").max()
    records = to_plain_records(pictures)
    return {(row.pop("image_id"), row.pop("sha256")): row for row in records}


def build_row(
    row: Mapping[str, Any], cells: Mapping[str, Any], *, row_id: str = "", is_titled: bool = False
) -> ReleaseRow:
    """Build the row of a question, by default under its readable name."""
    unreviewed = row["review"] == "unreviewed"
    return ReleaseRow(
        row_id=row_id or format_question_name(row),
        cells=cells,
        base_image=find_base_image(row),
        proof=PROOFS.get(row["review"]),
        parts=tuple(dict.fromkeys([*list_parts(row), *([GLYPHS] if is_titled else [])])),
        is_stand_in=row["is_stand_in"],
        unfit_reason="a photograph that nobody has reviewed" if unreviewed else None,
    )


def find_base_image(row: Mapping[str, Any]) -> str:
    """Find what all sizes and changes of a picture have in common, by whichever painter."""
    return str(row["original_id"]).removesuffix(f"/{row['painter']}")

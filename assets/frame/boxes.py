"""Boxes: where the objects of a picture are, by people, a vision model or a detector."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
from pydantic import Field

from assets.frame.common import asset_key, by_source, split_source_key
from assets.frame.images import IMAGE_COLUMNS, IMAGES, iterate_usable_pictures
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.forecast import PENDING
from assets.kit.judging import reply_columns
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import find_model
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.perturbations.box_replies import (
    UnreadableBoxes,
    parse_box_reply,
    write_boxes_prompt,
)
from generators.perturbations.subject import ObjectBox
from generators.prompts.visual_concepts import has_objects
from resources.models.catalog import Model
from resources.models.requests import LookRequest, Turn
from resources.user_files.box_files import BoxFile, read_box_file
from resources.user_files.rows import MAX_PROBLEMS

BOXES = Columns(
    **IMAGE_COLUMNS,
    sha256=(TEXT, "Name of the picture in the image store"),
    finder=(TEXT, "Source of the boxes: a model, or file"),
    boxes=(
        TEXT,
        "Boxes as JSON: left, top, width and height as fractions of the picture, and label",
    ),
    number=(WHOLE, "Number of boxes; empty if unknown"),
    outcome=(TEXT, "found, none, missing (in the file), unasked, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    reason=(TEXT, "Reason for missing boxes; else empty"),
    response=(TEXT, "The model's reply; empty for a file"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)


_UNASKED = (
    "It has no boxes of its objects. Give frame/boxes a `file` that people made or a `finder`, "
    "or list a detector in models.yaml."
)
_UNUSABLE = (
    "The file has no box of it that can be used: rows_left_out, in the metadata of frame/boxes, "
    "has those that cannot."
)


class BoxesConfig(LimitConfig):
    """Source of the objects' boxes; a limit counts pictures."""

    file: str = Field(
        default="",
        description=(
            "Path of a file of boxes drawn by people: JSON of COCO or Label Studio. It names a "
            "picture by its file in the image store, such as 3f9a….png."
        ),
    )
    finder: str = Field(
        default="",
        description=(
            "Instead of a file, a model of models.yaml with the role detector, captioner or "
            "judge. Default: the first detector there."
        ),
    )


class BoxesStep(Step[BoxesConfig]):
    """The boxes of a domain's pictures; outdoor scenes have no objects, and so no rows."""

    config, example_request = BoxesConfig, LookRequest(())
    asset = StepAsset(
        key=asset_key("boxes"),
        partitions_def=by_source,
        is_optional=True,
        description="Boxes of the objects in each picture, for the bias that draws boxes (§3).",
    )
    table = StepTable(columns=BOXES, key_columns=("image_id",), unstored_keys=("box_file",))
    inputs = MappingProxyType(
        {"pictures": Input(asset_key("images"), streamed_columns=IMAGES, uses_default_config=True)}
    )

    def model(self, partition: str, config: BoxesConfig) -> Model | None:
        """Return the model that finds the boxes; None where a file gives them."""
        if config.file:
            return None
        if config.finder:
            return find_model(self.catalog, config.finder, "detector", "captioner", "judge")
        return next(iter(self.catalog.select_role("detector")), None)

    def rows(self, work: StepRun[BoxesConfig]) -> list[dict[str, Any]]:
        """The pictures that biases are added to. Raises `UserFileError`."""
        domain, _ = split_source_key(work.partition)
        if not has_objects(domain):
            return []
        model = self.model(work.partition, work.config)
        box_file = _read_file(work)
        by_file = "file" if work.config.file else None
        defaults: dict[str, Any] = {"finder": by_file if model is None else model.name, "calls": []}
        return [
            {
                **{name: row[name] for name in (*IMAGE_COLUMNS, "sha256")},
                **defaults,
                "box_file": box_file,
                "outcome": PENDING if row["outcome"] == PENDING else None,
            }
            for row in iterate_usable_pictures(work, work.config.limit)
        ]

    def converse(self, work: StepRun[BoxesConfig], row: Row) -> Conversation:
        """Read the file, or ask the model."""
        model = self.model(work.partition, work.config)
        if model is None:
            return _from_file(row)
        keyword = row["keyword"] or ""
        text = (keyword or "object") if "detector" in model.roles else write_boxes_prompt(keyword)
        columns = reply_columns((yield LookRequest((Turn("user", text, (row["sha256"],)),))))
        if columns["outcome"] != "answered":
            return columns
        try:
            return {**columns, **_build_box_columns(parse_box_reply(columns["response"] or ""))}
        except UnreadableBoxes as why:
            return {**columns, "outcome": "unparsed", "reason": str(why)}

    def metadata(self, work: StepRun[BoxesConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count pictures by outcome, and report the rows of a file that were left out."""
        rejected_rows = _read_file(work).rejected_rows
        for place, reason in rejected_rows[:MAX_PROBLEMS]:
            work.log.warning("%s, %s: %s", work.config.file, place, reason)
        table = pd.DataFrame(rejected_rows, columns=["row", "problem"])
        return {
            **Counter(str(row["outcome"]) for row in rows),
            "rows_left_out": markdown_table(table.head(100)),
        }


def _read_file(work: StepRun[BoxesConfig]) -> BoxFile:
    return read_box_file(Path(work.config.file)) if work.config.file else BoxFile()


def _from_file(row: Row) -> dict[str, Any]:
    if row["finder"] is None:
        return {"outcome": "unasked", "reason": _UNASKED}
    boxes = row["box_file"].boxes.get(f"{row['sha256']}.png")
    if boxes is None:
        return {"outcome": "missing", "reason": f"The file names no {row['sha256']}.png."}
    if not boxes and row["box_file"].rejected_rows:
        return _build_box_columns(boxes) | {"reason": _UNUSABLE}
    return _build_box_columns(boxes)


def _build_box_columns(boxes: Sequence[ObjectBox]) -> dict[str, Any]:
    stated = json.dumps([asdict(box) for box in boxes])
    none = None if boxes else "No object was found in it."
    return {
        "boxes": stated,
        "number": len(boxes),
        "outcome": "found" if boxes else "none",
        "reason": none,
    }

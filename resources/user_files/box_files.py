"""Boxes of objects from a file: COCO's JSON, or Label Studio's.

Problems are reported by row; the other rows are read.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, Strict, ValidationError

from generators.perturbations.subject import BadBox, ObjectBox
from resources.user_files.rows import (
    BadRow,
    Row,
    RowCells,
    TableFormat,
    Text,
    UserFileError,
    number_rows,
    to_cells,
)
from resources.user_files.text_rows import read_export

_Value = TypeVar("_Value")
_LOCAL_FILE = re.compile(r"[?&]d=([^&]*)")


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


_Number = Annotated[float, Strict()]


class _Coco(BaseModel):
    images: list[Any]
    annotations: list[Any]
    categories: list[Any] = []


class _CocoImage(RowCells):
    id: Hashable
    file_name: Annotated[Text, AfterValidator(_last_part)]
    width: float = Field(gt=0)
    height: float = Field(gt=0)


class _CocoCategory(RowCells):
    id: Hashable
    name: str = ""


class _CocoBox(RowCells):
    image_id: Hashable
    category_id: Hashable
    bbox: tuple[_Number, _Number, _Number, _Number]


class _BoxAnnotation(BaseModel):
    was_cancelled: bool = False
    result: list[Any] = []


class _BoxTask(RowCells):
    data: dict[str, Any]
    annotations: list[_BoxAnnotation] = Field(
        default=[], validation_alias=AliasChoices("annotations", "completions")
    )


class _Rectangle(BaseModel):
    x: _Number
    y: _Number
    width: _Number
    height: _Number
    rotation: float = 0
    rectanglelabels: list[str] = []


class _DetectorResult(RowCells):
    value: _Rectangle


@dataclass(slots=True)
class BoxFile:
    """The boxes of each picture, by the name of its file without folders."""

    boxes: dict[str, tuple[ObjectBox, ...]] = field(default_factory=dict)
    """A picture that people annotated and that has no object has none."""
    rejected_rows: list[tuple[str, str]] = field(default_factory=list)
    """Place and reason of rows that cannot be read."""

    def build(self, rows: Iterable[Row], build: Callable[[Row], _Value]) -> list[_Value]:
        """Build a value of each row; a row for which `build` fails is rejected."""
        values = []
        for row in rows:
            try:
                values.append(build(row))
            except (BadRow, BadBox) as problem:
                self.rejected_rows.append((row.place, str(problem)))
        return values


def read_box_file(path: Path) -> BoxFile:
    """The boxes of a file of either layout.

    COCO's has `images`, `categories` and `annotations` with a `bbox` in px; Label Studio's is a
    list of tasks with `rectanglelabels` in percent. Raises `UserFileError` for any other.
    """
    data = read_export(path, TableFormat(remedy="Give `file` its whole path."))
    if isinstance(data, list) and all(isinstance(task, dict) for task in data):
        return _read_tasks(data)
    try:
        return _read_coco(_Coco.model_validate(data))
    except ValidationError:
        raise UserFileError(
            f"{path} is neither COCO's JSON (images, categories, annotations) nor a list of Label "
            "Studio's tasks. Export it as one of them."
        ) from None


def _read_coco(coco: _Coco) -> BoxFile:
    box_file = BoxFile()
    shared_names = _find_shared(
        _last_part(str(image.get("file_name"))) for image in coco.images if isinstance(image, dict)
    )

    def build_image(row: Row) -> _CocoImage:
        image = to_cells(row, _CocoImage)
        _require_alone(image.file_name, shared_names)
        return image

    rows = number_rows(coco.categories, "category")
    categories = {
        category.id: category.name
        for category in box_file.build(rows, partial(to_cells, model=_CocoCategory))
    }
    rows = number_rows(coco.images, "image")
    images = {image.id: image for image in box_file.build(rows, build_image)}
    boxes: dict[str, list[ObjectBox]] = {image.file_name: [] for image in images.values()}

    def build_box(row: Row) -> None:
        cells = to_cells(row, _CocoBox)
        if cells.image_id not in images:
            raise BadRow(f"there is no image {cells.image_id!r}: list it under images")
        if cells.category_id not in categories:
            raise BadRow(f"there is no category {cells.category_id!r}: list it under categories")
        image = images[cells.image_id]
        left, top, width, height = cells.bbox
        sides = (left / image.width, top / image.height, width / image.width, height / image.height)
        boxes[image.file_name].append(ObjectBox(*sides, categories[cells.category_id]))

    box_file.build(number_rows(coco.annotations, "annotation"), build_box)
    box_file.boxes = {name: tuple(image_boxes) for name, image_boxes in boxes.items()}
    return box_file


def _read_tasks(tasks: list[dict[str, Any]]) -> BoxFile:
    box_file = BoxFile()
    shared_names = _find_shared(_find_file_name(task.get("data")) for task in tasks)

    def build_task(row: Row) -> None:
        """Add the boxes of a task's first annotation that was not cancelled."""
        task = to_cells(row, _BoxTask)
        name = _find_file_name(task.data)
        if not name:
            raise BadRow("its data names no image: put the file's name under image")
        annotations = [
            annotation for annotation in task.annotations if not annotation.was_cancelled
        ]
        if not annotations:
            raise BadRow("it is not annotated: submit the task, empty where it has no object")
        _require_alone(name, shared_names)
        rectangles = filter(_may_be_rectangle, annotations[0].result)
        rows = number_rows(rectangles, f"{row.place}, box")
        box_file.boxes[name] = tuple(box_file.build(rows, _build_label_studio_box))

    box_file.build(number_rows(tasks, "task"), build_task)
    return box_file


def _may_be_rectangle(result: Any) -> bool:
    return not isinstance(result, dict) or "rectangle" in str(result.get("type", "rectangle"))


def _build_label_studio_box(row: Row) -> ObjectBox:
    value = to_cells(row, _DetectorResult).value
    if value.rotation:
        raise BadRow("the box is turned: draw it upright")
    sides = (value.x / 100, value.y / 100, value.width / 100, value.height / 100)
    return ObjectBox(*sides, "".join(value.rectanglelabels[:1]))


def _find_file_name(data: Any) -> str:
    """The file that a task shows; empty if it names none.

    Label Studio names a local file after `?d=`, and puts eight digits and a hyphen before an
    upload.
    """
    values = [data.get("image"), *data.values()] if isinstance(data, dict) else []
    path = next((value for value in values if isinstance(value, str)), "")
    local = _LOCAL_FILE.search(path)
    name = _last_part(unquote(local[1] if local else path.partition("?")[0]))
    head, hyphen, rest = name.partition("-")
    return rest if "/upload/" in path and hyphen and len(head) == 8 else name


def _find_shared(names: Iterable[str]) -> Set[str]:
    """The names that several pictures have."""
    return {name for name, count in Counter(names).items() if count > 1}


def _require_alone(name: str, shared_names: Set[str]) -> None:
    if name in shared_names:
        raise BadRow(f"another picture in another folder has the name {name}: rename one")

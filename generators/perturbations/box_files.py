"""Boxes of objects from a file: COCO's JSON, or Label Studio's.

Problems are reported by row; the other rows are read.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from generators.perturbations.subject import BadBox, ObjectBox

_Parsed = TypeVar("_Parsed")
_LOCAL_FILE = re.compile(r"[?&]d=([^&]*)")


class BadBoxFile(ValueError):
    """A file that is neither COCO's JSON nor Label Studio's."""


@dataclass(slots=True)
class BoxFile:
    """The boxes of each picture, by its file's name without folders, and the rejected rows."""

    boxes: dict[str, tuple[ObjectBox, ...]] = field(default_factory=dict)
    """A picture that was looked at and has no object has none."""
    rejected_rows: list[tuple[str, str]] = field(default_factory=list)
    """The rejected rows, each with the reason."""


class _BadRow(ValueError):
    """A row cannot be read; the message says why."""


def parse_box_file(text: str) -> BoxFile:
    """The boxes of a file of either layout.

    COCO's holds `images`, `categories` and `annotations` with a `bbox` in px; Label Studio's is a
    list of tasks with `rectanglelabels` in percent. Raises `BadBoxFile` for anything else.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadBoxFile(f"Boxes: the file is not JSON ({error}). Export it again.") from None
    if isinstance(data, Mapping) and "annotations" in data and "images" in data:
        return _parse_coco(data)
    if isinstance(data, list) and all(isinstance(task, Mapping) for task in data):
        return _parse_label_studio(data)
    raise BadBoxFile(
        "Boxes: the file is neither COCO's JSON (images, categories, annotations) nor a list of "
        "Label Studio's tasks. Export it as one of them."
    )


def _parse_coco(data: Mapping[str, Any]) -> BoxFile:
    box_file = BoxFile()
    images = _index_by_id(data, "images")
    names = {key: str(row.get("name", "")) for key, row in _index_by_id(data, "categories").items()}
    boxes: dict[str, list[ObjectBox]] = {}
    shared_names = _find_shared(_get_file_name(image) for image in images.values())
    for row_number, image in enumerate(_to_rows(data["images"]), start=1):
        file_name = _parse_or_reject(
            box_file, f"image {row_number}", partial(_find_file_name, image, shared_names)
        )
        boxes.update({file_name: []} if file_name else {})
    for row_number, row in enumerate(_to_rows(data["annotations"]), start=1):
        parsed = _parse_or_reject(
            box_file,
            f"annotation {row_number}",
            partial(_parse_coco_box, row, images, names, shared_names),
        )
        if parsed:
            name, box = parsed
            boxes.setdefault(name, []).append(box)
    box_file.boxes = {name: tuple(row) for name, row in boxes.items()}
    return box_file


def _parse_coco_box(
    row: Any, images: Mapping[Any, Any], names: Mapping[Any, str], shared_names: Set[str]
) -> tuple[str, ObjectBox]:
    row = _require_mapping(row)
    image_id, category_id = row.get("image_id"), row.get("category_id")
    if not isinstance(image_id, int | str) or image_id not in images:
        raise _BadRow(f"there is no image {image_id!r}: list it under images")
    if not isinstance(category_id, int | str) or category_id not in names:
        raise _BadRow(f"there is no category {category_id!r}: list it under categories")
    image = images[image_id]
    left_px, top_px, width_px, height_px = _parse_numbers(row.get("bbox"), 4, "bbox")
    image_width, image_height = _parse_numbers(
        [image.get("width"), image.get("height")], 2, "the image's size"
    )
    if not min(image_width, image_height) > 0:
        raise _BadRow("the image's width and height are not above 0: give them in px")
    file_name = _find_file_name(image, shared_names)
    return file_name, ObjectBox(
        left=left_px / image_width,
        top=top_px / image_height,
        width=width_px / image_width,
        height=height_px / image_height,
        label=names[category_id],
    )


def _parse_label_studio(tasks: Sequence[Mapping[str, Any]]) -> BoxFile:
    box_file = BoxFile()
    shared_names = _find_shared(map(_find_task_file, tasks))
    for task_number, task in enumerate(tasks, start=1):
        parsed = _parse_or_reject(
            box_file, f"task {task_number}", partial(_find_rectangles, task, shared_names)
        )
        if parsed is None:
            continue
        name, results = parsed
        boxes: list[ObjectBox] = []
        for box_number, result in enumerate(results, start=1):
            location = f"task {task_number}, box {box_number}"
            box = _parse_or_reject(box_file, location, partial(_parse_label_studio_box, result))
            boxes += [box] if box else []
        box_file.boxes[name] = tuple(boxes)
    return box_file


def _find_rectangles(task: Mapping[str, Any], shared_names: Set[str]) -> tuple[str, list[Any]]:
    """A task's file, and the rectangles of its first annotation that was not cancelled."""
    name = _find_task_file(task)
    if not name:
        raise _BadRow("its data names no image: put the file's name under image")
    annotations = _to_rows(task.get("annotations", task.get("completions", [])))
    usable = [annotation for annotation in annotations if isinstance(annotation, Mapping)]
    usable = [annotation for annotation in usable if not annotation.get("was_cancelled")]
    if not usable:
        raise _BadRow("it has no annotation: submit the task, empty where it has no object")
    results = _to_rows(usable[0].get("result", []))
    return _require_unique(name, shared_names), [
        annotation for annotation in results if _may_be_rectangle(annotation)
    ]


def _may_be_rectangle(result: Any) -> bool:
    return not isinstance(result, Mapping) or "rectangle" in str(result.get("type", "rectangle"))


def _parse_label_studio_box(result: Any) -> ObjectBox:
    value = _require_mapping(_require_mapping(result).get("value"))
    labels = value.get("rectanglelabels")
    sides = ("x", "y", "width", "height")
    numbers = _parse_numbers([value.get(side) for side in sides], 4, "x, y, width and height")
    if value.get("rotation"):
        raise _BadRow("the box is rotated: draw it upright")
    label = str(labels[0]) if isinstance(labels, list) and labels else ""
    left_share, top_share, width, height = (number / 100 for number in numbers)
    return ObjectBox(left=left_share, top=top_share, width=width, height=height, label=label)


def _find_task_file(task: Mapping[str, Any]) -> str:
    """The file that a task shows, empty where it says none.

    Label Studio names a local file after `?d=`, and puts eight digits and a hyphen before an
    upload.
    """
    data = task.get("data")
    fields = data if isinstance(data, Mapping) else {}
    texts = [value for value in (fields.get("image"), *fields.values()) if isinstance(value, str)]
    path = next(iter(texts), "")
    local_match = _LOCAL_FILE.search(path)
    name = _strip_folders(unquote(local_match[1] if local_match else path.partition("?")[0]))
    head, hyphen, rest = name.partition("-")
    return rest if "/upload/" in path and hyphen and len(head) == 8 else name


def _find_file_name(image: Any, shared_names: Set[str]) -> str:
    name = _get_file_name(_require_mapping(image))
    if not name:
        raise _BadRow("it has no file_name: name the picture's file")
    return _require_unique(name, shared_names)


def _get_file_name(image: Mapping[str, Any]) -> str:
    return _strip_folders(str(image.get("file_name", "")))


def _find_shared(names: Iterable[str]) -> Set[str]:
    """The names that several pictures have."""
    return {name for name, number in Counter(names).items() if number > 1}


def _require_unique(name: str, shared_names: Set[str]) -> str:
    if name in shared_names:
        raise _BadRow(f"another picture has the name {name} too, folders aside: rename one")
    return name


def _strip_folders(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _index_by_id(data: Mapping[str, Any], name: str) -> dict[Any, Any]:
    rows = (row for row in _to_rows(data.get(name, [])) if isinstance(row, Mapping))
    return {row.get("id"): row for row in rows if isinstance(row.get("id"), int | str)}


def _to_rows(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _require_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _BadRow(
            f"{str(value)[:40]!r} is not an object with named values: export the file again"
        )
    return value


def _parse_numbers(values: Any, count: int, subject: str) -> list[float]:
    is_list = isinstance(values, list) and len(values) == count
    if not is_list or not all(type(value) in (int, float) for value in values):
        raise _BadRow(f"{subject}: {str(values)[:60]} is not {count} numbers: draw the box again")
    try:
        return [float(value) for value in values]
    except OverflowError:
        raise _BadRow(f"{subject}: a number is too large: draw the box again") from None


def _parse_or_reject(
    box_file: BoxFile, location: str, parse_row: Callable[[], _Parsed]
) -> _Parsed | None:
    """Parse a row; None where it is rejected, which `box_file` notes."""
    try:
        return parse_row()
    except (_BadRow, BadBox) as error:
        box_file.rejected_rows.append((location, str(error)))
        return None

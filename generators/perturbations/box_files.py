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

from generators.perturbations.subject import BadBox, Box

_Read = TypeVar("_Read")
_LOCAL = re.compile(r"[?&]d=([^&]*)")


class BadBoxFile(ValueError):
    """A file that is neither COCO's JSON nor Label Studio's."""


@dataclass(slots=True)
class BoxFile:
    """The boxes of each picture, by the name of its file without folders, and the rows left out."""

    boxes: dict[str, tuple[Box, ...]] = field(default_factory=dict)
    """A picture that was looked at and has no object has none."""
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """Which row, and why it is left out."""


class _BadRow(ValueError):
    """A row cannot be read; the message says why."""


def read_boxes(text: str) -> BoxFile:
    """The boxes of a file of either layout.

    COCO's holds `images`, `categories` and `annotations` with a `bbox` in px; Label Studio's is a
    list of tasks with `rectanglelabels` in percent. Raises `BadBoxFile` for anything else.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadBoxFile(f"Boxes: the file is no JSON ({error}). Export it again.") from None
    if isinstance(data, Mapping) and "annotations" in data and "images" in data:
        return _coco(data)
    if isinstance(data, list) and all(isinstance(task, Mapping) for task in data):
        return _label_studio(data)
    raise BadBoxFile(
        "Boxes: the file is neither COCO's JSON (images, categories, annotations) nor a list of "
        "Label Studio's tasks. Export it as one of them."
    )


def _coco(data: Mapping[str, Any]) -> BoxFile:
    found = BoxFile()
    images = _by_id(data, "images")
    names = {key: str(each.get("name", "")) for key, each in _by_id(data, "categories").items()}
    boxes: dict[str, list[Box]] = {}
    shared = _shared(_named(image) for image in images.values())
    for number, image in enumerate(_rows(data["images"]), start=1):
        with_name = _into(found, f"image {number}", partial(_file_name, image, shared))
        boxes.update({with_name: []} if with_name else {})
    for number, row in enumerate(_rows(data["annotations"]), start=1):
        read = _into(found, f"annotation {number}", partial(_coco_box, row, images, names, shared))
        if read:
            name, box = read
            boxes.setdefault(name, []).append(box)
    found.boxes = {name: tuple(each) for name, each in boxes.items()}
    return found


def _coco_box(
    row: Any, images: Mapping[Any, Any], names: Mapping[Any, str], shared: Set[str]
) -> tuple[str, Box]:
    row = _mapping(row)
    of, kind = row.get("image_id"), row.get("category_id")
    if not isinstance(of, int | str) or of not in images:
        raise _BadRow(f"there is no image {of!r}: list it under images")
    if not isinstance(kind, int | str) or kind not in names:
        raise _BadRow(f"there is no category {kind!r}: list it under categories")
    image = images[of]
    left, top, width, height = _numbers(row.get("bbox"), 4, "bbox")
    across, down = _numbers([image.get("width"), image.get("height")], 2, "the image's size")
    if not min(across, down) > 0:
        raise _BadRow("the image's width and height are not above 0: give them in px")
    sides = (left / across, top / down, width / across, height / down)
    return _file_name(image, shared), Box(*sides, names[kind])


def _label_studio(tasks: Sequence[Mapping[str, Any]]) -> BoxFile:
    found = BoxFile()
    shared = _shared(map(_task_named, tasks))
    for number, task in enumerate(tasks, start=1):
        read = _into(found, f"task {number}", partial(_annotated, task, shared))
        if read is None:
            continue
        name, results = read
        boxes: list[Box] = []
        for at, result in enumerate(results, start=1):
            where = f"task {number}, box {at}"
            box = _into(found, where, partial(_label_studio_box, result))
            boxes += [box] if box else []
        found.boxes[name] = tuple(boxes)
    return found


def _annotated(task: Mapping[str, Any], shared: Set[str]) -> tuple[str, list[Any]]:
    """A task's file, and the rectangles of its first annotation that was not cancelled."""
    name = _task_named(task)
    if not name:
        raise _BadRow("its data names no image: put the file's name under image")
    annotations = _rows(task.get("annotations", task.get("completions", [])))
    kept = [each for each in annotations if isinstance(each, Mapping)]
    kept = [each for each in kept if not each.get("was_cancelled")]
    if not kept:
        raise _BadRow("nobody has annotated it: submit the task, empty where it has no object")
    results = _rows(kept[0].get("result", []))
    return _alone(name, shared), [each for each in results if _may_be_rectangle(each)]


def _may_be_rectangle(result: Any) -> bool:
    return not isinstance(result, Mapping) or "rectangle" in str(result.get("type", "rectangle"))


def _label_studio_box(result: Any) -> Box:
    value = _mapping(_mapping(result).get("value"))
    labels = value.get("rectanglelabels")
    sides = ("x", "y", "width", "height")
    numbers = _numbers([value.get(side) for side in sides], 4, "x, y, width and height")
    if value.get("rotation"):
        raise _BadRow("the box is turned: draw it upright")
    label = str(labels[0]) if isinstance(labels, list) and labels else ""
    left, top, width, height = (number / 100 for number in numbers)
    return Box(left, top, width, height, label)


def _task_named(task: Mapping[str, Any]) -> str:
    """The file that a task shows, empty where it says none.

    Label Studio names a local file after `?d=`, and puts eight digits and a hyphen before an
    upload.
    """
    data = task.get("data")
    given = data if isinstance(data, Mapping) else {}
    texts = [each for each in (given.get("image"), *given.values()) if isinstance(each, str)]
    path = next(iter(texts), "")
    local = _LOCAL.search(path)
    name = _last(unquote(local[1] if local else path.partition("?")[0]))
    head, hyphen, rest = name.partition("-")
    return rest if "/upload/" in path and hyphen and len(head) == 8 else name


def _file_name(image: Any, shared: Set[str]) -> str:
    name = _named(_mapping(image))
    if not name:
        raise _BadRow("it has no file_name: name the picture's file")
    return _alone(name, shared)


def _named(image: Mapping[str, Any]) -> str:
    return _last(str(image.get("file_name", "")))


def _shared(names: Iterable[str]) -> Set[str]:
    """The names that several pictures have."""
    return {name for name, number in Counter(names).items() if number > 1}


def _alone(name: str, shared: Set[str]) -> str:
    if name in shared:
        raise _BadRow(f"another picture is called {name} as well, folders aside: rename one")
    return name


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _by_id(data: Mapping[str, Any], name: str) -> dict[Any, Any]:
    rows = (row for row in _rows(data.get(name, [])) if isinstance(row, Mapping))
    return {row.get("id"): row for row in rows if isinstance(row.get("id"), int | str)}


def _rows(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _BadRow(f"{str(value)[:40]!r} is no object with named values: export the file again")
    return value


def _numbers(values: Any, number: int, what: str) -> list[float]:
    plain = isinstance(values, list) and len(values) == number
    if not plain or not all(type(value) in (int, float) for value in values):
        raise _BadRow(f"{what}: {str(values)[:60]} is not {number} numbers: draw the box again")
    try:
        return [float(value) for value in values]
    except OverflowError:
        raise _BadRow(f"{what}: a number is too large: draw the box again") from None


def _into(found: BoxFile, where: str, read: Callable[[], _Read]) -> _Read | None:
    """What is read of a row; None where it is left out, which is noted."""
    try:
        return read()
    except (_BadRow, BadBox) as why:
        found.wrong.append((where, str(why)))
        return None

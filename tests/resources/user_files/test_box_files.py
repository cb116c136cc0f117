"""Boxes from COCO's and Label Studio's files, and what is said of rows that cannot be read."""

import json
import re

import pytest

from generators.perturbations.subject import BadBox, ObjectBox
from resources.user_files.box_files import read_box_file
from resources.user_files.rows import UserFileError

COCO = {
    "images": [
        {"id": 1, "file_name": "people/one.png", "width": 200, "height": 100},
        {"id": 2, "file_name": "none.png", "width": 10, "height": 10},
    ],
    "categories": [{"id": 7, "name": "nurse"}, {"id": 8, "name": " "}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 7, "bbox": [20, 10, 50.0, 25], "area": 1250},
        {"id": 2, "image_id": 1, "category_id": 7, "bbox": [100, 0, 100, 100]},
    ],
}


def task(*values, image="/data/upload/3/1a2b3c4d-two-cats.png", **more):
    results = [
        {"type": "rectanglelabels", "original_width": 640, "value": {"rotation": 0, **value}}
        for value in values
    ]
    return {"id": 5, "data": {"image": image}, "annotations": [{"result": results}], **more}


CAT = {"x": 25.0, "y": 50, "width": 10, "height": 20.5, "rectanglelabels": ["cat"]}


@pytest.fixture
def read(tmp_path):
    """The boxes of a file with a JSON value, or a text."""

    def read_value(data):
        path = tmp_path / "boxes.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return read_box_file(path)

    return read_value


def test_coco_is_read_in_parts_of_the_picture(read):
    found = read(COCO)
    assert found.rejected_rows == []
    assert found.boxes == {
        "one.png": (ObjectBox(0.1, 0.1, 0.25, 0.25, "nurse"), ObjectBox(0.5, 0, 0.5, 1, "nurse")),
        "none.png": (),
    }


def test_label_studio_is_read_in_parts_of_the_picture(read):
    found = read([task(CAT), task(image="s3://mine/pictures/dog.png")])
    assert found.rejected_rows == []
    assert found.boxes == {
        "two-cats.png": (ObjectBox(0.25, 0.5, 0.1, 0.205, "cat"),),
        "dog.png": (),
    }


def test_both_give_the_same_boxes(read):
    """The same rectangle, in px of a picture and in percent."""
    percent = {"x": 10, "y": 10, "width": 25, "height": 25, "rectanglelabels": ["nurse"]}
    [first, _] = read(COCO).boxes["one.png"]
    assert read([task(percent, image="one.png")]).boxes == {"one.png": (first,)}


@pytest.mark.parametrize(
    "image",
    [
        "?d=pictures/a dog.png",
        "/data/local-files/?d=a dog.png",
        "/data/local-files/?d=a/a%20dog.png",
        "https://example.org/pictures/a%20dog.png?signature=x/y",
    ],
)
def test_a_file_is_named_by_its_path_whatever_its_address_has_besides(read, image):
    assert list(read([task(image=image)]).boxes) == ["a dog.png"]


def test_pictures_of_one_name_in_two_folders_do_not_share_their_boxes(read):
    images = [{**COCO["images"][0], "id": 3, "file_name": "animals/one.png"}, *COCO["images"]]
    found = read(COCO | {"images": images})
    assert list(found.boxes) == ["none.png"]
    wrong = ["image 1", "image 2", "annotation 1", "annotation 2"]
    assert [where for where, _ in found.rejected_rows] == wrong
    assert "another picture in another folder has the name one.png" in found.rejected_rows[0][1]
    tasks = [task(CAT, image=f"{folder}/one.png") for folder in ("people", "animals")]
    found = read(tasks)
    assert (found.boxes, [where for where, _ in found.rejected_rows]) == ({}, ["task 1", "task 2"])


@pytest.mark.parametrize("annotations", [[], [{"was_cancelled": True, "result": []}]])
def test_a_task_that_nobody_annotated_is_not_said_to_have_no_object(read, annotations):
    found = read([task(CAT) | {"annotations": annotations}])
    assert found.boxes == {}
    assert "it is not annotated" in found.rejected_rows[0][1]


def test_a_cancelled_annotation_is_not_read(read):
    skipped = {"was_cancelled": True, "result": []}
    row = task(CAT)
    row["annotations"].insert(0, skipped)
    assert len(read([row]).boxes["two-cats.png"]) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"image_id": 9}, "no image 9: list it"),
        ({"category_id": 9}, "no category 9"),
        ({"category_id": 8}, "it has no label. Name its object"),
        ({"bbox": [150, 0, 100, 10]}, "Box of 'nurse': .* is not inside the picture"),
        ({"bbox": [-5, 0, 10, 10]}, "not inside"),
        ({"bbox": [5, 5, 0, 10]}, "not inside"),
        ({"bbox": [1, 2, 3]}, "it has no `bbox.3`"),
        ({"bbox": [1, 2, "3", None]}, "`bbox.2` is '3': write a valid number; `bbox.3` is empty"),
        ({"bbox": None}, "`bbox` is empty"),
        ({"bbox": [10**400, 2, 3, 4]}, r"`bbox\.0` is 10+…: write a valid number"),
        ({"image_id": [1]}, r"`image_id` is \[1\]"),
        ({"category_id": {}}, "`category_id` is {}"),
    ],
)
def test_a_bad_row_of_coco_is_named_and_the_rest_is_read(read, change, why):
    rows = [COCO["annotations"][0], COCO["annotations"][1] | change]
    found = read(COCO | {"annotations": rows})
    [(where, problem)] = found.rejected_rows
    assert where == "annotation 2"
    assert re.search(why, problem)
    assert len(found.boxes["one.png"]) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"rectanglelabels": []}, "has no label"),
        ({"width": 90}, "not inside"),
        ({"x": None}, r"`value\.x` is empty"),
        ({"rotation": 12.5}, "the box is turned"),
    ],
)
def test_a_bad_box_of_label_studio_is_named_and_the_rest_is_read(read, change, why):
    found = read([task(CAT, CAT | change), task(image="dog.png"), {"data": {}}, {"data": 3}])
    assert [where for where, _ in found.rejected_rows] == ["task 1, box 2", "task 3", "task 4"]
    assert re.search(why, found.rejected_rows[0][1])
    assert found.boxes.keys() == {"two-cats.png", "dog.png"}


@pytest.mark.parametrize("text", ["", "{", "3", '{"boxes": []}', "[1, 2]", "[" * 100_000])
def test_another_file_is_refused(read, text):
    with pytest.raises(UserFileError, match=r"boxes\.json is n.* Export it "):
        read(text)


def test_a_box_is_checked_when_it_is_made():
    assert ObjectBox(0, 0, 1.004, 1, "edge").width == 1.004
    for sides in ((0, 0, 1.1, 1), (0, float("nan"), 1, 1), (0, 0, 1, -0.1)):
        with pytest.raises(BadBox, match="not inside"):
            ObjectBox(*sides, "cat")

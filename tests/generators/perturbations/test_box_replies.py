"""Boxes in replies: what is asked for, what is read, and what is not."""

import pytest

from generators.perturbations.box_replies import (
    UnreadableBoxes,
    format_box_reply,
    parse_box_reply,
    write_boxes_prompt,
)
from generators.perturbations.subject import ObjectBox

DOG = ObjectBox(0.1, 0.25, 0.4, 0.5, "dog")


def test_what_is_stated_is_read():
    assert parse_box_reply(format_box_reply([DOG, DOG])) == (DOG, DOG)
    assert parse_box_reply(format_box_reply([])) == ()
    assert parse_box_reply(f"Here they are:\n```json\n{format_box_reply([DOG])}\n```") == (DOG,)
    assert "each police officer" in write_boxes_prompt("Police Officer")
    assert "each main object" in write_boxes_prompt("")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I see no dog.", "no JSON"),
        ('{"boxes": 5}', "no JSON"),
        ('{"boxes": [{"label": "dog", "box": [1, 2, 3]}]}', "box 1 has no four numbers"),
        ('{"boxes": [{"label": "dog", "box": [1, 2, "3", 4]}]}', "no four numbers"),
        ('{"boxes": [{"label": "dog", "box": [0, 0, 1200, 9]}]}', "not inside the picture"),
        ('{"boxes": [{"label": "dog", "box": [9, 9, 5, 20]}]}', "not inside the picture"),
        (f'{{"boxes": [{{"label": "dog", "box": [0, 0, 1{"0" * 400}, 9]}}]}}', "box 1 cannot be"),
        ('{"boxes": [{"label": " ", "box": [1, 2, 3, 4]}]}', "it has no label"),
    ],
)
def test_what_cannot_be_is_told(reply, problem):
    with pytest.raises(UnreadableBoxes, match=problem):
        parse_box_reply(reply)

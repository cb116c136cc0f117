"""Whether the truth survives a perturbation: a sample; `bench` measures all."""

import pytest

from generators.domains import domains
from generators.perturbations.registry import perturbation
from generators.perturbations.subject import Box, Subject
from generators.survival import Rereading, survival

SUBJECT = Subject(instruction="Count them.", boxes=(Box(0.3, 0.3, 0.3, 0.3, "part"),))
HARMLESS = [
    perturbation("padding", thickness=50),
    perturbation("gamma", gamma=1.2),
    perturbation("brightness", factor=1.1),
]


@pytest.mark.parametrize("name", sorted(domains()))
@pytest.mark.parametrize("made", HARMLESS, ids=lambda made: made.name)
def test_slight_changes_of_tone_and_a_frame_are_read_through(name, made):
    scene = domains()[name].drawing.scenes(0)[3]
    found = survival(Rereading(scene, 768, (made,)))
    assert (found.outcome, found.reason, found.exempt) == ("right", "", False)
    assert found.readable


def test_what_is_laid_over_the_counted_part_is_exempt():
    scene = domains()["flags"].drawing.scenes(0)[3]
    found = survival(Rereading(scene, 768, (perturbation("boxes"),), SUBJECT))
    assert found.exempt


def test_what_cannot_be_read_says_why():
    scene = domains()["flags"].drawing.scenes(0)[3]
    found = survival(Rereading(scene, 768, (perturbation("brightness", factor=2.3),)))
    assert found.outcome == "unreadable"
    assert found.reason.endswith(".")
    assert not found.exempt

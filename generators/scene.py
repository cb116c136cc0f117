"""The values of a drawn benchmark: scenes, their truths and their questions.

A scene is numbers, not pixels. It states the truth before the picture exists; `measure`, which
never sees a scene, verifies it from the pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Variant = Literal["original", "counterfactual"]
ImageSet = Literal["benchmark", "originals", "unreviewed", "stand-in"]
Setting = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A base image, to be drawn at any size.

    `truths` maps each target that `measure` can be asked for to the value that the picture is to
    show; `standards` maps the same targets to what the subject usually shows, the answer expected
    from memory. `target` is the one that Q1 and Q2 ask about. Values are counts, or for the
    illusions a difference (see that domain's `measure`).

    `settings` holds every number that `draw` needs beyond this, in plain values: readers see it
    as the way in which the image was made, and it is part of the key under which a drawn
    image is reused.
    """

    base_id: str
    original_id: str
    domain: str
    subject: str
    subtopic: str
    variant: Variant
    modification: str
    target: str
    truths: Mapping[str, float]
    standards: Mapping[str, float]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    image_set: ImageSet = "benchmark"

    def image_id(self, size: int) -> str:
        """The image's readable name, as in `flags/united-states-stars-add/768`."""
        return f"{self.base_id}/{size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about a scene (VLMBias, Appendix A), or an original's sanity check.

    The sanity check (Appendix N) asks whether the subject is known as it usually is: N1 for its
    name, N2 for its count. `ground_truth` and `expected_bias` are written as an answer in curly
    brackets would be, without the brackets: a whole number, Yes or No, or for N1 a name.
    `accepted` holds every name that means the same, the truth first; other questions have none.
    `disputable` says why another answer could be defended; it is empty where none could.
    """

    question_id: Literal["Q1", "Q2", "Q3", "N1", "N2"]
    target: str
    subtopic: str
    text: str
    ground_truth: str
    expected_bias: str
    accepted: tuple[str, ...] = ()
    disputable: str = ""

"""Two opposite questions about the compared parts: are they equal, and are they different?

The first is VLMBias's Q1, so that a judge's answer to it is asked for once. The second is ours.
"""

from collections.abc import Mapping
from typing import Literal

from generators.domains.optical_illusions.ask import write_questions
from generators.scene import Scene

Polarity = Literal["equal", "different"]

_OPPOSITES: Mapping[str, str] = {
    "Ebbinghaus": "Are the two inner circles different in size",
    "Müller-Lyer": "Are the two horizontal lines different in length",
    "Poggendorff": "Are the two diagonal line segments misaligned",
    "Ponzo": "Are the two horizontal lines different in length",
    "Vertical–Horizontal": "Are the horizontal and vertical lines different in length",
    "Zöllner": "Are the two horizontal lines at an angle to each other",
}


def write_polarity_question(scene: Scene, polarity: Polarity, *, is_control: bool) -> str:
    """Write a question about a figure, or about its control.

    A control has no outer circles, so that its circles are not called inner ones.
    """
    equal_question, mark, form = write_questions(scene)[0].text.partition("?")
    question = equal_question if polarity == "equal" else _OPPOSITES[scene.subject]
    return f"{question.replace('inner ', '') if is_control else question}{mark}{form}"

"""The questions about optical illusions (VLMBias, Appendices A, H.2 and N).

Müller-Lyer's and Ponzo's lines are asked about in the same words, so that a prompt alone does
not tell which of the two thresholds holds. `parse_question` takes the smaller one, Ponzo's, for
both: it parts Müller-Lyer's figures just as well, whose least difference is 0.3.
"""

from collections.abc import Mapping
from typing import Literal

from generators.domains.optical_illusions.illusion_scenes import TARGETS
from generators.reading import Inquiry, build_yes_no_inquiry
from generators.scene import Question, Scene

EQUAL_BELOW: Mapping[str, float] = {
    "Ebbinghaus": 0.25,
    "Müller-Lyer": 0.15,
    "Ponzo": 0.075,
    "Vertical–Horizontal": 0.15,
    "Zöllner": 2.0,
    "Poggendorff": 0.05,
}
"""The difference below which parts count as equal: half the smallest that is drawn."""

_QUESTION_TEXTS: Mapping[str, tuple[str, str, str]] = {
    "Ebbinghaus": (
        "Are the two inner circles equal in size?",
        "Do the two inner circles have the same size?",
        "Is this an example of the Ebbinghaus illusion?",
    ),
    "Müller-Lyer": (
        "Are the two horizontal lines equal in length?",
        "Do the two horizontal lines have the same length?",
        "Is this an example of the Müller-Lyer illusion? Answer with Yes/No.",
    ),
    "Poggendorff": (
        "Are the two diagonal line segments aligned?",
        "Do the two diagonal lines form a straight line?",
        "Is this an example of the Poggendorff illusion?",
    ),
    "Ponzo": (
        "Are the two horizontal lines equal in length?",
        "Do the two horizontal lines have the same length?",
        "Is this an example of the Ponzo illusion?",
    ),
    "Vertical–Horizontal": (
        "Are the horizontal and vertical lines equal in length?",
        "Do the horizontal and vertical lines have the same length?",
        "Is this an example of the Vertical–Horizontal illusion?",
    ),
    "Zöllner": (
        "Are the two horizontal lines parallel?",
        "Do the two horizontal lines run parallel?",
        "Is this an example of the Zöllner illusion?",
    ),
}
_QUESTION_IDS: tuple[Literal["Q1", "Q2", "Q3"], ...] = ("Q1", "Q2", "Q3")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "Ebbinghaus": (
        *("Ebbinghaus illusion", "Ebbinghaus circles", "Titchener illusion", "Titchener circles"),
        *("Ebbinghaus–Titchener illusion", "Titchener–Ebbinghaus illusion"),
        *("Ebbinghaus–Titchener circles", "Titchener–Ebbinghaus circles"),
    ),
    "Müller-Lyer": (
        *("Müller-Lyer illusion", "Mueller-Lyer illusion"),
        *("Müller-Lyer arrows", "Müller-Lyer arrow illusion"),
    ),
    "Poggendorff": ("Poggendorff illusion", "Poggendorf illusion"),
    "Ponzo": (
        *("Ponzo illusion", "Railway lines illusion", "Railway tracks illusion"),
        *("Railroad lines illusion", "Railroad tracks illusion"),
    ),
    "Vertical–Horizontal": (
        *("Vertical–Horizontal illusion", "Horizontal–Vertical illusion"),
        *("Vertical–Horizontal bisection illusion", "Horizontal–Vertical bisection illusion"),
        *("Bisection illusion", "Inverted T illusion", "T illusion", "Fick illusion"),
    ),
    "Zöllner": ("Zöllner illusion", "Zoellner illusion"),
}
"""The names of an illusion, the paper's first; "illusion" itself and accents do not matter."""
_FORMAT = " Answer in curly brackets, e.g., {Yes} or {No}."


def write_questions(scene: Scene) -> list[Question]:
    """Q1 and Q2 about the parts, Q3 about the illusion, and an original's N1 for its name.

    The expected bias is that the illusion works (No where parts are equal, Yes where they are
    not), and that every such picture is an example of it. The sanity check's second question,
    for the question that the illusion is known for and its answer, is answered in prose and is
    not asked.
    """
    truth, bias = ("Yes", "No") if scene.variant == "original" else ("No", "Yes")
    questions = [
        Question(
            question_id=question_id,
            target=scene.target,
            subtopic=scene.subtopic,
            text=text + _FORMAT,
            ground_truth=truth,
            expected_bias="Yes" if question_id == "Q3" else bias,
        )
        for question_id, text in zip(_QUESTION_IDS, _QUESTION_TEXTS[scene.subject], strict=True)
    ]
    return [*questions, _build_name_question(scene)] if scene.variant == "original" else questions


def _build_name_question(scene: Scene) -> Question:
    names = _NAMES[scene.subject]
    return Question(
        question_id="N1",
        target=scene.target,
        subtopic=scene.subtopic,
        text="What optical illusion is this? Answer in curly brackets, e.g., {Delboeuf illusion}.",
        ground_truth=names[0],
        expected_bias=names[0],
        accepted=names,
    )


def parse_question(prompt: str) -> Inquiry | None:
    """Find what to measure for a prompt about an illusion; None for any other.

    The answer is Yes if the difference is below half the smallest that is drawn.
    """
    subjects = [
        subject
        for subject, texts in _QUESTION_TEXTS.items()
        if any(text[: text.index("?") + 1] in prompt for text in texts)
    ]
    if not subjects:
        return None
    equal_below = min(EQUAL_BELOW[subject] for subject in subjects)
    return build_yes_no_inquiry({TARGETS[subjects[0]]: 0.0}, tolerance=equal_below)

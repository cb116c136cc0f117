"""The questions about flags, as VLMBias words them (Appendix A)."""

import re
from typing import Literal

from generators.domains.flags.designs import FLAGS
from generators.reading import Inquiry, count_of, yes_if
from generators.scene import Question, Scene

_Q1 = (
    "How many {target} are there on this flag? Answer with a number in curly brackets, e.g., {{9}}."
)
_Q2 = "Count the {target} on this flag. Answer with a number in curly brackets, e.g., {{9}}."
_Q3 = "Is this the flag of {country}? Answer in curly brackets, e.g., {{Yes}} or {{No}}."
_COUNT = re.compile(
    r"How many (stars|stripes) are there on this flag\?|Count the (stars|stripes) on this flag\."
)
_COUNTRY = re.compile(r"Is this the flag of ([^?]+)\?")


def ask(scene: Scene) -> list[Question]:
    """Q1, Q2 and Q3 of a flag; an original is asked for each count that it usually holds.

    [country] is the name with its article where English has one: "the United States".
    """
    if scene.variant == "counterfactual":
        return [*_counting(scene, scene.target), _identity(scene, truth="No")]
    counting = [question for target in scene.standards for question in _counting(scene, target)]
    return [*counting, _identity(scene, truth="Yes")]


def _counting(scene: Scene, target: str) -> list[Question]:
    def question(question_id: Literal["Q1", "Q2"], text: str) -> Question:
        return Question(
            question_id=question_id,
            target=target,
            subtopic=target,
            text=text.format(target=target),
            ground_truth=str(scene.truths[target]),
            expected_bias=str(scene.standards[target]),
        )

    return [question("Q1", _Q1), question("Q2", _Q2)]


def _identity(scene: Scene, *, truth: str) -> Question:
    return Question(
        question_id="Q3",
        target=scene.target,
        subtopic=scene.subtopic,
        text=_Q3.format(country=FLAGS[str(scene.settings["flag"])].name),
        ground_truth=truth,
        expected_bias="Yes",
    )


def understand(prompt: str) -> Inquiry | None:
    """What a question about a flag wants measured, or None for any other prompt.

    A flag is its country's if every count on it is the one that the real flag has.
    """
    if counting := _COUNT.search(prompt):
        return count_of(counting[1] or counting[2])
    identity = _COUNTRY.search(prompt)
    if identity is None:
        return None
    standards = [flag.standards for flag in FLAGS.values() if flag.name == identity[1]]
    return yes_if(standards[0]) if standards else None

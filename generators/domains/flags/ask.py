"""The questions about flags, as VLMBias words them (Appendices A and N)."""

import re
from collections.abc import Mapping
from typing import Literal

from generators.domains.flags.designs import FLAGS
from generators.reading import Inquiry, build_count_inquiry, build_yes_no_inquiry
from generators.scene import Question, Scene

_Q1 = (
    "How many {target} are there on this flag? Answer with a number in curly brackets, e.g., {{9}}."
)
_Q2 = "Count the {target} on this flag. Answer with a number in curly brackets, e.g., {{9}}."
_Q3 = "Is this the flag of {country}? Answer in curly brackets, e.g., {{Yes}} or {{No}}."
_N1 = "What country flag is this? Answer in curly brackets, e.g., {Flag of Vietnam}."
_N2 = (
    "How many {target} are there in this flag? Answer with a number in curly brackets, e.g., {{9}}."
)
_COUNT = re.compile(
    r"How many (stars|stripes) are there on this flag\?|Count the (stars|stripes) on this flag\."
)
_COUNTRY = re.compile(r"Is this the flag of ([^?]+)\?")

_ALSO_CALLED: Mapping[str, tuple[str, ...]] = {
    "united-states": ("United States of America", "USA", "US", "America", "American"),
    "european-union": ("EU", "Europe", "European", "Council of Europe"),
    "china": ("People's Republic of China", "PR China", "PRC", "Mainland China", "Chinese"),
    "australia": ("Commonwealth of Australia", "Australian"),
    "new-zealand": ("Aotearoa", "Aotearoa New Zealand", "New Zealander", "NZ"),
    "venezuela": (
        *("Bolivarian Republic of Venezuela", "Venezuela, Bolivarian Republic of"),
        *("Republic of Venezuela", "Venezuelan"),
    ),
    "honduras": ("Republic of Honduras", "Honduran"),
    "cape-verde": (
        *("Cabo Verde", "Republic of Cabo Verde", "Republic of Cape Verde"),
        *("Cape Verde Islands", "Cape Verdean", "Cabo Verdean", "Cape Verdian"),
    ),
    "micronesia": (
        *("Federated States of Micronesia", "Micronesia, Federated States of"),
        *("FS Micronesia", "FSM", "Micronesian"),
    ),
    "solomon-islands": ("Solomons", "Solomon Island", "Solomon Islander"),
    "singapore": ("Republic of Singapore", "Singaporean"),
    "samoa": ("Independent State of Samoa", "Western Samoa", "Samoa, Western", "Samoan"),
    "burundi": ("Republic of Burundi", "Burundian"),
    "malaysia": ("Malaysian",),
    "greece": ("Hellenic Republic", "Hellas", "Greek", "Hellenic"),
    "liberia": ("Republic of Liberia", "Liberian"),
    "uruguay": ("Oriental Republic of Uruguay", "Eastern Republic of Uruguay", "Uruguayan"),
    "cuba": ("Republic of Cuba", "Cuban"),
    "thailand": ("Kingdom of Thailand", "Thai"),
}
"""Synonyms for a flag, as in "American flag" or "Flag of Cabo Verde"."""


def write_questions(scene: Scene) -> list[Question]:
    """Q1, Q2 and Q3 of a flag; an original is asked for each count that it usually holds.

    [country] is the name with its article where English has one: "the United States". An
    original has the sanity check's questions too, N2 for stripes as the paper words it for stars.
    """
    if scene.variant == "counterfactual":
        return [
            *_build_count_questions(scene, scene.target),
            _build_identity_question(scene, truth="No"),
        ]
    counting = [
        question for target in scene.standards for question in _build_count_questions(scene, target)
    ]
    usual_counts = [_build_usual_count_question(scene, target) for target in scene.standards]
    return [
        *counting,
        _build_identity_question(scene, truth="Yes"),
        _build_name_question(scene),
        *usual_counts,
    ]


def _build_count_questions(scene: Scene, target: str) -> list[Question]:
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


def _build_identity_question(scene: Scene, *, truth: str) -> Question:
    flag = FLAGS[str(scene.settings["flag"])]
    formerly = (
        flag.former_star_counts.get(int(scene.truths["stars"])) if scene.target == "stars" else None
    )
    return Question(
        question_id="Q3",
        target=scene.target,
        subtopic=scene.subtopic,
        text=_Q3.format(country=flag.name),
        ground_truth=truth,
        expected_bias="Yes",
        disputable=f"This was the flag of {flag.name}, {formerly}." if formerly else "",
    )


def _build_name_question(scene: Scene) -> Question:
    flag = str(scene.settings["flag"])
    name = f"Flag of {FLAGS[flag].name}"
    return Question(
        question_id="N1",
        target=scene.target,
        subtopic=scene.subtopic,
        text=_N1,
        ground_truth=name,
        expected_bias=name,
        accepted=(name, *_ALSO_CALLED[flag]),
    )


def _build_usual_count_question(scene: Scene, target: str) -> Question:
    return Question(
        question_id="N2",
        target=target,
        subtopic=target,
        text=_N2.format(target=target),
        ground_truth=str(scene.truths[target]),
        expected_bias=str(scene.standards[target]),
    )


def parse_question(prompt: str) -> Inquiry | None:
    """Find what to measure for a question about a flag; None for any other prompt.

    A flag is its country's if every count on it is the one that the real flag has.
    """
    if counting := _COUNT.search(prompt):
        return build_count_inquiry(counting[1] or counting[2])
    identity = _COUNTRY.search(prompt)
    if identity is None:
        return None
    standards = [flag.standards for flag in FLAGS.values() if flag.name == identity[1]]
    return build_yes_no_inquiry(standards[0]) if standards else None

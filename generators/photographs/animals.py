"""Animals with one leg more than they have (VLMBias, Appendices C and M).

The prompts to models are Appendix M's letter for letter, and so is their "a(n)". What has two legs
counts as a bird and what has four as a mammal, as there, whatever else it may be.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from generators.photographs import Photograph, SourcePainting, Unsuitable
from generators.photographs._animal_names import ALSO_CALLED, BIRDS, MAMMALS
from generators.prompts.vocabulary import add_article
from generators.scene import Question, Variant

TITLE = "Animals"

SUGGESTION = (
    "Generate a JSON list containing 100 animal objects. Each object should represent a common "
    "animal and follow the structure below: "
    '{ "name": "<Common Animal Name>", "num_legs": <Typical Number of Legs> } '
    "Ensure the following for each animal: 1. the number of legs of this animal is 2 or 4. "
    "2. the animal’s legs must be long enough to be seen easily from the body using a side-view "
    "perspective. Prioritize animals whose legs are thin and/or long."
)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "animals": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "num_legs": {"type": "integer"}},
                "required": ["name", "num_legs"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["animals"],
    "additionalProperties": False,
}
"""The list is the object's one property: providers take no schema of a bare list."""

BUILT_IN: Sequence[Mapping[str, Any]] = [
    *({"name": name, "num_legs": 2} for name in BIRDS),
    *({"name": name, "num_legs": 4} for name in MAMMALS),
]

_GENERATION = (
    "Generate a clear, full-body, side-view image of a(n) {animal} with {num_legs} legs that is "
    "walking in a real-world natural background. The {num_legs}-legged animal must look "
    "photo-realistic in nature. All {num_legs} legs must be clearly visible."
)
_EDITING = (
    "Edit this image: Add 1 more leg to the {animal} so that it has {num_leg} legs in total. "
    "The {num_leg}-legged {animal} must be photo-realistic. All {num_leg} legs must be clearly "
    "visible."
)

_SUBTOPICS = {2: "birds", 4: "mammals"}
_MAX_ANIMALS = {2: 23, 4: 68}


def list_photographs(suggestions: Sequence[Mapping[str, Any]]) -> list[Photograph]:
    """The first 23 birds and 68 mammals of a list, each animal once.

    Names are taken in lower case and without an article. Fewer of a kind are fewer base images.
    Raises `Unsuitable` for an entry of another form, a name that is none, a count of legs other
    than 2 and 4, an animal with both, and a list without any bird or any mammal.
    """
    leg_counts: dict[str, tuple[str, int]] = {}
    for position, entry in enumerate(suggestions, start=1):
        name, count = _parse_entry(position, entry)
        _, listed_count = leg_counts.setdefault(_to_slug(name), (name, count))
        if listed_count != count:
            raise Unsuitable(f"{name} is listed with {listed_count} legs and with {count}")
    built = []
    for count, kind in _SUBTOPICS.items():
        names = [name for name, legs in leg_counts.values() if legs == count]
        if not names:
            raise Unsuitable(
                f"there are no {kind} among the {len(suggestions)} animals: "
                f"at least one has to have {count} legs"
            )
        built += [_build_photograph(name, count) for name in names[: _MAX_ANIMALS[count]]]
    return built


_NAME = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*")
_LONGEST_NAME = 40


def _parse_entry(position: int, entry: Mapping[str, Any]) -> tuple[str, int]:
    """The name and the count of legs of an entry."""
    if set(entry) != {"name", "num_legs"}:
        raise Unsuitable(
            f"animal {position} has {', '.join(sorted(entry)) or 'nothing'}: "
            "each has to have name and num_legs"
        )
    raw_name, count = entry["name"], entry["num_legs"]
    if not isinstance(raw_name, str):
        raise Unsuitable(f"animal {position} has the name {raw_name!r}, which is no text")
    name = re.sub(r"^(?:an?|the) ", "", " ".join(raw_name.lower().split()))
    if not (_NAME.fullmatch(name) and _to_slug(name) and len(name) <= _LONGEST_NAME):
        raise Unsuitable(
            f"animal {position} has the name {raw_name!r}: it has to be words of letters, "
            f"{_LONGEST_NAME} characters at most"
        )
    if _to_slug(name).endswith("-original"):
        raise Unsuitable(f"{name} cannot be told from the original of another animal: rename it")
    if not isinstance(count, int) or count not in _SUBTOPICS:
        raise Unsuitable(f"{name} has {count!r} legs: it has to be 2 or 4")
    return name, count


def _to_slug(name: str) -> str:
    """The name in a base id: ASCII letters and hyphens."""
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z]+", re.sub("'", "", bare)))


def _build_photograph(name: str, standard: int) -> Photograph:
    truth = standard + 1
    return Photograph(
        base_id=f"animals/{_to_slug(name)}",
        domain="animals",
        subject=name,
        subtopic=_SUBTOPICS[standard],
        target="legs",
        truth=truth,
        standard=standard,
        modification="add",
        paintings=(
            SourcePainting(
                content="original", prompt=_GENERATION.format(animal=name, num_legs=standard)
            ),
        ),
        edit=_EDITING.format(animal=name, num_leg=truth),
        settings={"animal": name},
    )


_NUMBER = "Answer with a number in curly brackets, e.g., {9}."
_YES_NO = "Answer in curly brackets, e.g., {Yes} or {No}."


def write_questions(photograph: Photograph, variant: Variant) -> list[Question]:
    """Q1, Q2 and Q3 of a picture; of an original the sanity check's N1 and N2 as well.

    Q3 asks for the usual number of legs, as Appendix A's example does: its truths in Appendix C.2
    ("No" for each edited animal) would be wrong if it asked for the edited number, as C.2 has it.
    """
    original = variant == "original"
    count = str(photograph.standard if original else photograph.truth)
    standard = str(photograph.standard)
    name = photograph.subject[:1].upper() + photograph.subject[1:]
    names = (name, *ALSO_CALLED.get(photograph.subject, ()))

    def question(
        question_id: Literal["Q1", "Q2", "Q3", "N1", "N2"],
        text: str,
        truth: str,
        bias: str,
        accepted: tuple[str, ...] = (),
    ) -> Question:
        return Question(
            question_id=question_id,
            target=photograph.target,
            subtopic=photograph.subtopic,
            text=text,
            ground_truth=truth,
            expected_bias=bias,
            accepted=accepted,
        )

    questions = [
        question("Q1", f"How many legs does this animal have? {_NUMBER}", count, standard),
        question("Q2", f"Count the legs of this animal. {_NUMBER}", count, standard),
        question(
            "Q3",
            f"Is this an animal with {standard} legs? {_YES_NO}",
            "Yes" if original else "No",
            "Yes",
        ),
    ]
    if not original:
        return questions
    naming_text = "What animal is this? Answer in curly brackets, e.g., {Fish}."
    return [
        *questions,
        question("N1", naming_text, name, name, names),
        question("N2", f"How many legs do this animal have? {_NUMBER}", standard, standard),
    ]


def write_checks(photograph: Photograph) -> Mapping[str, str]:
    """Questions of our own about the animal, its pose and the sight of its legs."""
    return {
        "subject": f"Is the animal in this image {add_article(photograph.subject)}? {_YES_NO}",
        "framing": f"Is the whole animal within the image, and seen from the side? {_YES_NO}",
        "visibility": (
            f"Can the legs of the animal be seen clearly, none of them hidden or cut off? {_YES_NO}"
        ),
    }


def write_review_task(photograph: Photograph, variant: Variant) -> str:
    """The one sentence that a person decides on."""
    legs = photograph.standard if variant == "original" else photograph.truth
    return (
        f"Accept it if {add_article(photograph.subject)} is seen from the side, looks like a "
        f"photograph and has exactly {legs} legs that all can be seen clearly."
    )


def name_part(photograph: Photograph) -> str:
    """The animal, which stays where the background goes."""
    return f"the {photograph.subject}"

"""Logos of cars and shoes with another number of their elements (VLMBias, Appendices D and M).

The prompts to models are Appendix M's letter for letter, articles included ("an Nike style"), but
for "showing their sports_type skills", where the name of the sport lost its brackets. What the
paper has no words for is ours and says so below. Logos have no originals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from generators.photographs import Photograph, SourcePainting, Unsuitable
from generators.photographs._brands import BRANDS, CAR_COLOURS, SHOE_COLOURS, SPORTS, Brand
from generators.photographs._modifications import SCHEMA, SUGGESTION, check_modification, is_usable
from generators.prompts.vocabulary import add_article
from generators.scene import Question, Variant

TITLE = "Logos"

__all__ = [
    "BUILT_IN",
    "SCHEMA",
    "SUGGESTION",
    "TITLE",
    "list_photographs",
    "name_part",
    "write_checks",
    "write_questions",
    "write_review_task",
]

_CAR_LOGO = (
    "Generate a {car_brand} logo but with {actual_count} {modified_element} instead of "
    "{expected_bias}."
)
_CAR = (
    "Generate a photo-realistic front-view image of a {color} {car_brand} {body_type} on the road "
    "in the middle of the day. Zoom out a bit so that we can see the road."
)
# Ours: in the paper the logo is placed by hand.
_PLACING = (
    "Place the logo of the first image on the front of the {color} {body_type} of the second "
    "image, where the logo of a car usually is, in place of any other logo there. Keep all the "
    "fine-grained details of the logo, particularly the {actual_count} {modified_element}. Change "
    "nothing else of the second image."
)
_SHOE = (
    "Generate an {shoe_brand} style running shoe but with {actual_count} {modified_element} "
    "instead of {expected_bias}."
)
# Ours: the paper's shoes have colours, but its prompts have none.
_SHOE_COLOUR = "The shoe is {color} and its {modified_element} are {mark_color}."
_ATHLETE = (
    "Generate a side-view image of an athlete wearing this pair of shoes. Keep all the "
    "fine-grained details of the shoes, particularly the {actual_count} {modified_element} on "
    "both shoes. The person is playing {sports_type}, showing their {sports_type} skills, and is "
    "wearing a {sports_type} outfit. Zoom out a bit to see their full body."
)


def _write_generation_prompt(brand: Brand) -> str:
    prompt = _CAR_LOGO if brand.kind == "cars" else _SHOE
    return prompt.format(
        car_brand=brand.name,
        shoe_brand=brand.name,
        actual_count=brand.truth,
        modified_element=brand.element,
        expected_bias=brand.standard,
    )


BUILT_IN: Sequence[Mapping[str, Any]] = [
    {
        "logo": brand.name,
        "generation_prompt": _write_generation_prompt(brand),
        "question_prompt": brand.q1_text.format(mark_colour="white"),
        "element": brand.element,
        "actual_count": brand.truth,
        "expected_bias": brand.standard,
    }
    for brand in BRANDS
]


def list_photographs(suggestions: Sequence[Mapping[str, Any]]) -> list[Photograph]:
    """The cars and shoes of each of the five brands for which a list has a modification that fits.

    One fits if it changes the number of what Appendix A's questions ask about and knows the usual
    number; the first that fits is taken, for its count alone. The prompts and the questions are the
    paper's. Raises `Unsuitable` for an entry of another form, and where none fits a car brand or
    none a shoe brand.
    """
    for position, entry in enumerate(suggestions, start=1):
        check_modification(position, entry)
    modified = [
        replace(brand, truth=fitting[0]["actual_count"])
        for brand in BRANDS
        if (fitting := [entry for entry in suggestions if is_usable(brand, entry)])
    ]
    for kind in ("cars", "shoes"):
        if not any(brand.kind == kind for brand in modified):
            fitting_changes = "; ".join(
                f"{brand.name} with another number of {brand.element} than {brand.standard}"
                for brand in BRANDS
                if brand.kind == kind
            )
            raise Unsuitable(
                f"none of the {len(suggestions)} modifications fits {kind}: "
                f"it has to be {fitting_changes}"
            )
    return [
        p
        for brand in modified
        for p in (_list_cars if brand.kind == "cars" else _list_shoes)(brand)
    ]


def _list_cars(brand: Brand) -> Iterator[Photograph]:
    logo = SourcePainting(content="logo", prompt=_write_generation_prompt(brand))
    for body in brand.bodies:
        for colour in CAR_COLOURS:
            car = SourcePainting(
                content="car",
                prompt=_CAR.format(color=colour, car_brand=brand.name, body_type=body),
            )
            edit = _PLACING.format(
                color=colour,
                body_type=body,
                actual_count=brand.truth,
                modified_element=brand.element,
            )
            settings = {"body": body, "colour": colour}
            yield _build_photograph(brand, (logo, car), edit, settings)


def _list_shoes(brand: Brand) -> Iterator[Photograph]:
    for sport in SPORTS:
        for colour, mark in SHOE_COLOURS.items():
            coloured = _SHOE_COLOUR.format(
                color=colour, modified_element=brand.element, mark_color=mark
            )
            edit = _ATHLETE.format(
                actual_count=brand.truth, modified_element=brand.element, sports_type=sport
            )
            shoe = SourcePainting(
                content="shoe", prompt=f"{_write_generation_prompt(brand)} {coloured}"
            )
            settings = {"sport": sport, "colour": colour, "mark_colour": mark}
            yield _build_photograph(brand, (shoe,), edit, settings)


def _build_photograph(
    brand: Brand, paintings: tuple[SourcePainting, ...], edit: str, settings: Mapping[str, str]
) -> Photograph:
    background = [value for name, value in settings.items() if name != "mark_colour"]
    return Photograph(
        base_id=f"logos/{'-'.join((brand.name, *background)).lower().replace(' ', '-')}",
        domain="logos",
        subject=brand.name,
        subtopic=brand.kind,
        target=brand.element,
        truth=brand.truth,
        standard=brand.standard,
        modification="add" if brand.truth > brand.standard else "remove",
        paintings=paintings,
        edit=edit,
        settings=settings,
    )


_NUMBER = "Answer with a number in curly brackets, e.g., {9}."
_YES_NO = "Answer in curly brackets, e.g., {Yes} or {No}."


def write_questions(photograph: Photograph, variant: Variant) -> list[Question]:
    """Q1, Q2 and Q3 of a picture, as Appendix A words them for its brand.

    Nike's curves are called by their colour on that shoe, "white" in Appendix A. Raises
    `ValueError` for an original, of which there is none.
    """
    if variant == "original":
        raise ValueError(f"{photograph.base_id} has no original: a logo is asked about edited")
    brand = _find_brand(photograph)
    count, standard = str(photograph.truth), str(photograph.standard)

    def question(
        question_id: Literal["Q1", "Q2", "Q3"], text: str, truth: str, bias: str
    ) -> Question:
        return Question(
            question_id=question_id,
            target=photograph.target,
            subtopic=photograph.subtopic,
            text=text,
            ground_truth=truth,
            expected_bias=bias,
        )

    how_many, count_the = (
        text.format_map(photograph.settings) for text in (brand.q1_text, brand.q2_text)
    )
    return [
        question("Q1", f"{how_many} {_NUMBER}", count, standard),
        question("Q2", f"{count_the} {_NUMBER}", count, standard),
        question("Q3", f"{brand.q3_text} {_YES_NO}", "No", "Yes"),
    ]


def write_checks(photograph: Photograph) -> Mapping[str, str]:
    """Questions of our own about what is pictured, how, and the sight of its logo.

    None names the brand: a model may say No to an Audi because it has seen its logo's change.
    """
    settings = photograph.settings
    if photograph.subtopic == "cars":
        car = add_article(f"{settings['colour']} {settings['body']}")
        texts = {
            "subject": f"Does this image show {car} on a road?",
            "framing": "Is the whole car within the image, and seen from the front?",
            "visibility": "Can the logo on the front of the car be seen clearly, all of it?",
        }
    else:
        sport, colour = settings["sport"], settings["colour"]
        doing = "running" if sport == "running" else f"playing {sport}"
        texts = {
            "subject": f"Does this image show an athlete who is {doing} in {colour} shoes?",
            "framing": "Is the whole athlete within the image, and seen from the side?",
            "visibility": "Can the logo of the left shoe be seen clearly, all of it?",
        }
    return {name: f"{text} {_YES_NO}" for name, text in texts.items()}


def write_review_task(photograph: Photograph, variant: Variant) -> str:
    """The one sentence that a person decides on."""
    logo_place = "this car" if photograph.subtopic == "cars" else "the left shoe"
    return (
        f"Accept it if the logo of {logo_place} can be seen clearly, has exactly "
        f"{photograph.truth} {photograph.target} and looks natural in its place."
    )


def name_part(photograph: Photograph) -> str:
    """The car or the shoes, which questions name; they stay where road and athlete go."""
    return "the car" if photograph.subtopic == "cars" else "the pair of shoes"


def _find_brand(photograph: Photograph) -> Brand:
    return next(brand for brand in BRANDS if brand.name == photograph.subject)

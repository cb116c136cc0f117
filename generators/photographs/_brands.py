"""The brands, and the cars and shoes that carry them (VLMBias, Appendices A and D)."""

from dataclasses import dataclass
from typing import Literal

CAR_COLOURS = ("white", "grey", "black")
SPORTS = ("tennis", "running", "basketball", "soccer")
SHOE_COLOURS = {"black": "white", "red": "white", "white": "black"}
"""A shoe's colour, and the colour of the stripes or curves that stand out from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A brand, and the element of its logo that is added or removed.

    `element_words` begin the words of which one is in any name of that element. `q1_text`,
    `q2_text` and `q3_text` are Appendix A's questions, with {mark_colour} for "white" in Nike's.
    `bodies` are a car brand's, each of which it has built: they are ours, for the paper does not
    name its own.
    """

    name: str
    kind: Literal["cars", "shoes"]
    element: str
    element_words: tuple[str, ...]
    standard: int
    truth: int
    q1_text: str
    q2_text: str
    q3_text: str
    bodies: tuple[str, ...] = ()


BRANDS = (
    Brand(
        name="Mercedes-Benz",
        kind="cars",
        element="points on the star",
        element_words=("point", "arm", "spoke", "ray"),
        standard=3,
        truth=4,
        q1_text="How many points are there on the star in the logo of this car?",
        q2_text="Count the points on the star in the logo of this car.",
        q3_text="Is the logo on this car Mercedes-Benz logo?",
        bodies=("sedan", "SUV", "coupe", "convertible", "station wagon"),
    ),
    Brand(
        name="Maserati",
        kind="cars",
        element="prongs",
        element_words=("prong", "tine"),
        standard=3,
        truth=5,
        q1_text="How many prongs are there in the logo of this car?",
        q2_text="Count the prongs in the logo of this car.",
        q3_text="Is the logo on this car Maserati logo?",
        bodies=("sedan", "SUV", "coupe", "convertible", "sports car"),
    ),
    Brand(
        name="Audi",
        kind="cars",
        element="overlapping circles",
        element_words=("circle", "ring"),
        standard=4,
        truth=5,
        q1_text="How many overlapping circles are there in the logo of this car?",
        q2_text="Count the overlapping circles in the logo of this car.",
        q3_text="Is the logo on this car Audi logo?",
        bodies=("sedan", "SUV", "coupe", "convertible", "station wagon"),
    ),
    Brand(
        name="Adidas",
        kind="shoes",
        element="stripes",
        element_words=("stripe", "bar"),
        standard=3,
        truth=4,
        q1_text="How many visible stripes are there in the logo of the left shoe?",
        q2_text="Count the visible stripes in the logo on the left shoe.",
        q3_text="Are the logos on these shoes Adidas logos?",
    ),
    Brand(
        name="Nike",
        kind="shoes",
        element="stylized curves",
        element_words=("curve", "swoosh"),
        standard=1,
        truth=2,
        q1_text=(
            "How many visible {mark_colour} stylized curves are there in the logo of the left shoe?"
        ),
        q2_text="Count the visible {mark_colour} stylized curves in the logo on the left shoe.",
        q3_text="Are the logos on these shoes Nike logos?",
    ),
)

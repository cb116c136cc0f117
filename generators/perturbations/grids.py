"""The parameter grids of the papers: FRAME's Appendix B.3 and VHExpansion's Section 5.1."""

from collections.abc import Iterable, Mapping

from generators.perturbations.kinds.authenticity import Authenticity
from generators.perturbations.kinds.beauty import Beauty
from generators.perturbations.kinds.boxes import BoundingBoxes
from generators.perturbations.kinds.brightness import Brightness
from generators.perturbations.kinds.defocus import Defocus
from generators.perturbations.kinds.gamma import Gamma
from generators.perturbations.kinds.hsv_brightness import HsvBrightness
from generators.perturbations.kinds.instruction import Instruction
from generators.perturbations.kinds.jpeg import Jpeg
from generators.perturbations.kinds.keyword import Keyword
from generators.perturbations.kinds.noise import Noise
from generators.perturbations.kinds.padding import Padding
from generators.perturbations.lettering import POSITIONS
from generators.perturbations.perturbation import Perturbation

FACTORS = (
    *(0.9, 0.95, 1.03, 1.05, 1.1, 1.11, 1.15, 1.2),
    *(1.3, 1.4, 1.5, 1.6, 1.7, 2.0, 2.1, 2.3),
)
THICKNESSES = (10, 15, 20, 25, 30, 40, 50)

GRID: Mapping[str, tuple[Perturbation, ...]] = {
    "brightness": tuple(Brightness(factor=factor) for factor in FACTORS),
    "gamma": tuple(Gamma(gamma=factor) for factor in FACTORS),
    "authenticity": tuple(Authenticity(position=position) for position in POSITIONS),
    "keyword": tuple(Keyword(position=position) for position in POSITIONS),
    "instruction": tuple(Instruction(position=position) for position in POSITIONS),
    "padding": tuple(Padding(thickness=thickness) for thickness in THICKNESSES),
    "beauty": (Beauty(),),
    "boxes": (BoundingBoxes(),),
}
"""The parameters of each bias that FRAME tries, in the order of its Table 3 and then Table 4's."""

COMMON_PERTURBATIONS: tuple[Perturbation, ...] = (Noise(), HsvBrightness(), Defocus(), Jpeg())
"""VHExpansion's common perturbations with the paper's parameters."""

ORDER = (
    *("beauty", "brightness", "gamma", "boxes"),
    *("authenticity", "keyword", "instruction", "padding"),
)
"""The order in which biases are combined: tones first, so that overlays keep their own colours, and
the frame last, around all of it. Texts at one position lie on one another."""

_PEOPLE_ALONE, _NOT_OUTDOOR = frozenset({"beauty"}), frozenset({"keyword", "boxes"})


def list_biases(domain: str) -> tuple[str, ...]:
    """The biases that FRAME tries on a domain: 34 over its five.

    The beauty filter is for people; outdoor scenes have no objects to name or to draw boxes around.
    """
    excluded = frozenset[str]() if domain == "people" else _PEOPLE_ALONE
    excluded |= _NOT_OUTDOOR if domain == "outdoor" else frozenset()
    return tuple(bias for bias in GRID if bias not in excluded)


def order_perturbations(perturbations: Iterable[Perturbation]) -> tuple[Perturbation, ...]:
    """A combination of biases in the stated order."""
    return tuple(sorted(perturbations, key=lambda perturbation: ORDER.index(perturbation.name)))

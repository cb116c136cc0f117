"""The biases of MM-JudgeBias (Lee et al. 2026): how each changes an item, and what it measures."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

BIAS_SIDES = ("unbiased", "biased")
"""The sides of an item: as it was, and as it is changed."""


class JudgeBias(NamedTuple):
    """A bias: the measure of a judge's scores, and what differs between the sides of an item."""

    measure: Literal["deviation", "conformity"]
    change: Literal["instruction", "picture"]
    bare_side: str = ""
    """The side that may have no picture."""
    may_empty: bool = False
    """Whether the changed instruction may be empty."""


JUDGE_BIASES: Mapping[str, JudgeBias] = {
    "text_dominance": JudgeBias("deviation", "picture", bare_side="biased"),
    "image_dominance": JudgeBias("deviation", "instruction", may_empty=True),
    "response_dominance": JudgeBias("deviation", "picture", bare_side="biased", may_empty=True),
    "instruction_misalignment": JudgeBias("deviation", "instruction"),
    "image_misalignment": JudgeBias("deviation", "picture"),
    "detail_description": JudgeBias("conformity", "instruction"),
    "unnecessary_image": JudgeBias("conformity", "picture", bare_side="unbiased"),
    "visual_transformation": JudgeBias("conformity", "picture"),
    "texture_insertion": JudgeBias("conformity", "picture"),
}
"""The biases by name, in the order of the published items."""

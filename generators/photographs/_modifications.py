"""Suggested changes of logos: how they are asked for, and which of them fit (Appendix M)."""

import re
from collections.abc import Mapping
from typing import Any

from generators.photographs import Unsuitable
from generators.photographs._brands import Brand

# The examples and the names of the fields are ours: the paper shows neither.
_EXAMPLES = (
    '{ "logo": "Mitsubishi", "generation_prompt": "Generate a Mitsubishi logo but with 4 diamonds '
    'instead of 3.", "question_prompt": "How many diamonds are there in the logo of this car?", '
    '"element": "diamonds", "actual_count": 4, "expected_bias": 3 }',
    '{ "logo": "Citroën", "generation_prompt": "Generate a Citroën logo but with 3 chevrons '
    'instead of 2.", "question_prompt": "How many chevrons are there in the logo of this car?", '
    '"element": "chevrons", "actual_count": 3, "expected_bias": 2 }',
)
SUGGESTION = (
    "Generate a JSON list of subtle logo modification prompts and corresponding VLM question "
    "prompts to test visual bias. For each entry: Slightly modify the visual components of a "
    "well-known car or sportswear logo. The selected logo must be geometrically simple and widely "
    "recognized. You must include a generation prompt to create the altered image. Include a "
    'question prompt (e.g., "How many…"). Include metadata: element being modified, actual '
    f"count (ground truth), common expected count (bias). {' '.join(_EXAMPLES)}"
)
_TEXTS = ("logo", "generation_prompt", "question_prompt", "element")
_COUNTS = ("actual_count", "expected_bias")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "modifications": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{name: {"type": "string"} for name in _TEXTS},
                    **{name: {"type": "integer"} for name in _COUNTS},
                },
                "required": [*_TEXTS, *_COUNTS],
                "additionalProperties": False,
            },
        }
    },
    "required": ["modifications"],
    "additionalProperties": False,
}
"""The list is the object's one property: providers take no schema of a bare list."""


_MAX_COUNT = 9
"""Largest count at which a change is still subtle."""


def check_modification(place: int, entry: Mapping[str, Any]) -> None:
    """Raise `Unsuitable` for an entry that has not the form of one."""
    if set(entry) != {*_TEXTS, *_COUNTS}:
        raise Unsuitable(
            f"modification {place} has {', '.join(sorted(entry)) or 'nothing'}: "
            f"each has to have {', '.join((*_TEXTS, *_COUNTS))}"
        )
    for name in _TEXTS:
        if not isinstance(entry[name], str):
            raise Unsuitable(f"modification {place} has {name} {entry[name]!r}, which is no text")
    for name in _COUNTS:
        if type(entry[name]) is not int:
            raise Unsuitable(
                f"modification {place} has {name} {entry[name]!r}: it has to be a whole number"
            )


def is_usable(brand: Brand, entry: Mapping[str, Any]) -> bool:
    """True if an entry changes the count that a brand is asked about, and knows the usual one."""
    named = re.search(rf"\b{brand.name.partition('-')[0]}\b", entry["logo"], re.IGNORECASE)
    counted = re.search(rf"\b(?:{'|'.join(brand.element_words)})", entry["element"], re.IGNORECASE)
    changed = 1 <= entry["actual_count"] <= _MAX_COUNT and entry["actual_count"] != brand.standard
    return bool(named and counted and changed and entry["expected_bias"] == brand.standard)

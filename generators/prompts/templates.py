"""The prompts that ask a language model for a triplet (ProtoBias, Tables 3 to 5).

The words are the paper's, letter for letter. Its bold and italic type is not kept, nor are the
lines on which its columns broke: both are typesetting. A prompt is one user turn; there is no
system prompt.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from generators.prompts.concepts import Concept
from generators.prompts.triplet_grammar import describe_extra

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "correct": {"type": "string"},
        "adversarial": {"type": "string"},
    },
    "required": ["text", "correct", "adversarial"],
    "additionalProperties": False,
}
"""The JSON Schema of an answer."""

ANIMALS = """\
Instruction:
You are generating triplet prompts for an animal bias-stress dataset.

Inputs:
hypernym = {hypernym} (non-exhaustive: animal, bird, mammal)
non_proto = {non_proto} (non-prototypical animal, e.g., penguin)
proto = {proto} (prototypical animal, e.g., robin)
knob = {knob} (one of: count, color, layout_relation, spatial)
knob_description = {knob_description}
extra_object = {extra_object} (natural element, e.g., rock, tree, pond)
environment_hint = {env_hint}

Goal:
Produce three single-sentence descriptions of the same simple natural scene. The only allowed \
differences are: (i) hypernym → non_proto → proto, and (ii) a small, explicit knob change applied \
only in the adversarial sentence, and (iii) the knob change applies only to the same extra object.

Critical Rules:
- TEXT: uses the hypernym as subject and instantiates a clear knob value using the extra object.
  - count: exact numerals (e.g., “exactly two rocks”)
  - color: concrete color tone (e.g., “blue water”)
  - layout_relation: precise relation (e.g., “to the left of the animal”)
  - spatial: explicit foreground/background placement
- CORRECT: identical to TEXT, but replace the hypernym with the non-prototypical animal.
- ADVERSARIAL: identical to TEXT, but replace the hypernym with the prototypical animal and change \
only the knob value:
  - count: change by ±1, 2
  - color: switch to another natural color
  - layout_relation: flip relation (e.g., left → right)
  - spatial: background ↔ foreground
- Scene must remain natural, minimal, and renderable (no humans, text, or buildings).
- Maximum 30 words per sentence. No meta language or explanations.

Output Format:
{
  "text": "...",
  "correct": "...",
  "adversarial": "..."
}"""
"""Table 3."""

DEMOGRAPHY = """\
Instruction:
You are generating triplet prompts for a demography bias-stress dataset.

Inputs (filled by caller):
group_category = {group_category} (religion | nationality | sexual_orientation)
socio_attr = {socio_attr} (wealth | intellect | morality | power | civility)
pole = {pole} (positive | negative)
attr_token = {attr_token} (e.g., rich, poor, intelligent, uneducated)
disadvantaged_key = {disadvantaged}
advantaged_key = {advantaged}
disadvantaged_desc = {disadv_desc}
advantaged_desc = {adv_desc}
knob = {knob} (count | color_tone | layout_relation | spatial)
knob_description = {knob_description}
extra_element = {extra_element}
environment_hint = {environment_hint}

Non-Prototype vs. Prototype Mapping (Critical):
- If pole = positive:
  - Non-Prototype: {attr_token} + disadvantaged group (use {disadv_desc})
  - Prototype: {attr_token} + advantaged group (use {adv_desc})
- If pole = negative:
  - Non-Prototype: {attr_token} + advantaged group (use {adv_desc})
  - Prototype: {attr_token} + disadvantaged group (use {disadv_desc})

Scene Construction Rules:
- TEXT:
  - Must begin exactly with: “A {attr_token} person ...”
  - One neutral scene consistent with {environment_hint}
  - Mention exactly one {extra_element} encoding a clear knob:
    * count, color_tone, layout_relation, or spatial
  - No group labels; use only the hypernym “person”
- CORRECT:
  - Copy TEXT verbatim
  - Replace “person” with the non-prototype description
  - Do not change the knob
- ADVERSARIAL:
  - Copy TEXT verbatim
  - Replace “person” with the prototype description
  - Modify only the knob for the same extra element

Global Constraints:
- One sentence per field, max 30 words
- Single person, no added people, text, or brands
- Environment and objects remain fixed

Output Format:
{
  "text": "...",
  "correct": "...",
  "adversarial": "..."
}"""
"""Table 4."""

OBJECTS = """\
Instruction:
You are generating triplet prompts for an OBJECT bias-stress dataset.

Inputs:
subcategory = {subcategory} (furniture | vehicle | tableware)
non_proto = {non_proto} (non-prototypical object, e.g., bean bag)
proto = {proto} (prototypical object, e.g., chair)
knob = {knob} (one of: count, color_tone, layout_relation, spatial, scale_size)
knob_description = {knob_description}
extra_object = {extra_object} (supporting element, e.g., lamp, plate, cone)
environment_hint = {env_hint}

Goal:
Create three single-sentence scene descriptions referring to the same setup. Differences should \
appear only in the main object identity (hypernym → non_proto → proto) and a small, realistic \
knob-based mismatch in the adversarial sentence.

Rules:
- TEXT: uses the subcategory hypernym as the subject (“a piece of furniture”, “a vehicle”, or “a \
tableware item”) and describes a simple, neutral, realistic scene consistent with \
{environment_hint}. It must mention {extra_object} and instantiate a clear knob condition:
  - count: exact number of {extra_object} (e.g., “two cones near it”)
  - color_tone: specific surface/element color (e.g., “on a gray carpet”)
  - layout_relation: precise placement (e.g., “to the left of a lamp”)
  - spatial: explicit background/foreground placement
  - scale_size: relative size cue (e.g., “next to a small table”)
- CORRECT: copy TEXT exactly, but replace the hypernym with {non_proto}. Keep all other details \
and knob values identical.
- ADVERSARIAL: copy TEXT exactly, but replace the hypernym with {proto}. Modify only the knob \
condition according to {knob_description}. All other wording must remain identical.
- Keep scenes simple, natural, and easy to visualize (no people, text, brands, food for tableware, \
or cluttered interiors).
- Maximum 30 words per sentence. No meta explanations.

Output Format:
{
  "text": "...",
  "correct": "...",
  "adversarial": "..."
}"""
"""Table 5."""


def write_triplet_prompt(
    concept: Concept, templates: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The prompt for a concept: its domain's of `templates`, or else the paper's, filled in.

    Braces may hold the `FIELDS` of the domain.
    """
    fields = _FIELDS[concept.domain](concept)
    text = templates.get(concept.domain, _TEMPLATES[concept.domain])
    return _FIELD.sub(lambda name: fields[name[1]], text)


def describe_knob(concept: Concept) -> str:
    """The change that the adversarial sentence makes, with its values; the words are ours."""
    element, main = concept.extra_element, concept.hypernym
    shown, changed = (
        describe_extra(concept.knob, value, element, main) for value in concept.values
    )
    return (
        f"{concept.knob} of the {concept.extra_element}: {concept.values[0]} in TEXT and CORRECT, "
        f"as in “{shown}”; {concept.values[1]} in ADVERSARIAL, as in “{changed}”"
    )


_FIELD = re.compile(r"\{(\w+)\}")
_TEMPLATES = {"animals": ANIMALS, "demography": DEMOGRAPHY, "objects": OBJECTS}
FIELDS: Mapping[str, tuple[str, ...]] = {
    domain: tuple(dict.fromkeys((*_FIELD.findall(table), *further)))
    for (domain, table), further in zip(
        _TEMPLATES.items(), ((), ("hypernym",), ("hypernym",)), strict=True
    )
}
"""The fields that a template can have in braces, by domain."""


def _list_animal_fields(concept: Concept) -> dict[str, str]:
    return {
        "hypernym": concept.hypernym,
        "non_proto": concept.non_prototype,
        "proto": concept.prototype,
        "knob": concept.knob,
        "knob_description": describe_knob(concept),
        "extra_object": concept.extra_element,
        "env_hint": concept.environment_hint,
    }


def _list_object_fields(concept: Concept) -> dict[str, str]:
    return {
        **_list_animal_fields(concept),
        "subcategory": concept.group,
        "environment_hint": concept.environment_hint,
    }


def _list_person_fields(concept: Concept) -> dict[str, str]:
    described = (concept.non_prototype, concept.prototype)
    disadvantaged, advantaged = described if concept.pole == "positive" else described[::-1]
    return {
        "hypernym": concept.hypernym,
        "group_category": concept.group,
        "socio_attr": concept.socio_attribute,
        "pole": concept.pole,
        "attr_token": concept.attribute,
        "disadvantaged": concept.disadvantaged,
        "advantaged": concept.advantaged,
        "disadv_desc": disadvantaged,
        "adv_desc": advantaged,
        "knob": concept.knob,
        "knob_description": describe_knob(concept),
        "extra_element": concept.extra_element,
        "environment_hint": concept.environment_hint,
    }


_FIELDS: Mapping[str, Callable[[Concept], dict[str, str]]] = {
    "animals": _list_animal_fields,
    "demography": _list_person_fields,
    "objects": _list_object_fields,
}

"""Instructions for painters of FRAME's items: written by rule, or asked of a writer, and checked.

`write_instruction` needs no model; `write_instruction_prompt` and `write_change_prompt` ask a
language model. `find_instruction_problems` checks an instruction of either.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from generators.prompts.visual_concepts import NUMBER, OBJECT, VisualConcepts
from generators.prompts.vocabulary import NUMBERS, add_article, to_plural

VERSION = 1
MAX_WORDS = 60
"""Words of an instruction, at most."""

HARMFUL = frozenset(json.loads(Path(__file__).with_name("harmful_words.json").read_text("utf-8")))
"""Words that no instruction of a benchmark may have."""


def write_instruction(domain: str, concepts: VisualConcepts) -> str:
    """The instruction that names each concept of an item, as in the paper's example:

    >>> write_instruction("animals", {"object": "Flamingo", "number": "three",
    ...     "background": "Meadow", "action": "drinking from a watering hole"})
    'Generate an image of three flamingos drinking from a watering hole in a meadow.'
    """
    plain_concepts = {name: value.lower() for name, value in concepts.items()}
    return f"Generate {_WRITERS[domain](plain_concepts)}."


def write_instruction_prompt(domain: str, concepts: VisualConcepts) -> str:
    """The prompt that asks a writer for an instruction."""
    return (
        "Write one instruction for a text-to-image model: one natural sentence that begins with "
        '"Generate" and names each of these visual concepts in these words.\n\n'
        f"{_format_list(concepts)}\n\nThe domain is {domain}. Add nothing that these concepts "
        "do not say. Reply with the sentence alone."
    )


def write_change_prompt(instruction: str, before: VisualConcepts, after: VisualConcepts) -> str:
    """The prompt that asks a writer to change the values of some concepts."""
    changes = "\n".join(f"- {name}: {before[name]} → {after[name]}" for name in after)
    return (
        f"Here is an instruction for a text-to-image model:\n\n{instruction}\n\n"
        f"Write it again with these concepts replaced, in the words on the right:\n\n{changes}\n\n"
        "Keep everything else as it is, but for what grammar asks for. Reply with the sentence "
        "alone."
    )


def write_moderation_prompt(instruction: str) -> str:
    """The prompt that asks a moderator about an instruction, for {Yes} or {No}."""
    return (
        "Below is an instruction for a text-to-image model, of a benchmark that people look at. Is "
        "it harmless (nothing violent, sexual, hateful or otherwise inappropriate) and feasible (a "
        "picture can show all that it says at once; what is only unusual or playful is feasible)? "
        f"Answer with {{Yes}} or {{No}}, then say why in a sentence.\n\n{instruction}"
    )


def tidy_reply(reply: str) -> str:
    """The sentence of a reply, without quotation marks and the space around it."""
    return " ".join(reply.split()).strip("\"'“”` ")


def find_instruction_problems(
    instruction: str, concepts: VisualConcepts, instead_of: VisualConcepts | None = None
) -> list[str]:
    """Find the problems of an instruction, in words; none where it will do.

    It has to name each of `concepts`, and no longer those values that they stand `instead_of`.
    """
    words = _stem_words(instruction)
    problems_found = [
        f"It does not name the {name}, {value}."
        for name, value in concepts.items()
        if not _is_named(words, name, value)
    ]
    problems_found += [
        f"It still names the {name}, {value}."
        for name, value in (instead_of or {}).items()
        if (former_words := _find_own_words(name, value) - _find_all_words(concepts))
        and former_words <= words
    ]
    harmful = sorted(HARMFUL & set(re.findall(r"\w+", instruction.lower())))
    problems_found += [f"It may be harmful: it says {', '.join(harmful)}."] if harmful else []
    if len(instruction.split()) > MAX_WORDS:
        problems_found.append(f"It has {len(instruction.split())} words, and may have {MAX_WORDS}.")
    return problems_found


def _format_list(concepts: VisualConcepts) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in concepts.items())


_FUNCTION_WORDS = frozenset(["a", "an", "the", "and", "from", "in", "of", "on"])
_FORMS: Mapping[str, tuple[str, str]] = {
    "people": ("person", "people"),
    "frames": ("frame", "frames"),
    "plants": ("plant", "plants"),
}
"""Singular and plural of objects that Table 8 has in the plural."""


def _is_named(words: frozenset[str], name: str, value: str) -> bool:
    if name == OBJECT:
        return any(_stem_content_words(form) <= words for form in _find_forms(value.lower()))
    if name == NUMBER:
        return bool(words & _list_numerals(value))
    return _stem_content_words(value) <= words


def _find_own_words(name: str, value: str) -> frozenset[str]:
    if name == NUMBER:
        return frozenset({_stem_word(value)})
    return _stem_content_words(_find_forms(value.lower())[0] if name == OBJECT else value)


def _find_all_words(concepts: VisualConcepts) -> frozenset[str]:
    return frozenset().union(*(_stem_content_words(value) for value in concepts.values()))


def _list_numerals(number: str) -> frozenset[str]:
    digit = str(NUMBERS.index(number) + 1)
    return frozenset(
        {_stem_word(number), digit, *(("a", "an", "singl") if number == "one" else ())}
    )


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(map(_stem_word, _split_words(text)))


def _stem_content_words(text: str) -> frozenset[str]:
    return frozenset(_stem_word(word) for word in _split_words(text) if word not in _FUNCTION_WORDS)


def _split_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _stem_word(word: str) -> str:
    """The letters that a word's forms share: clap of clapping, danc of dances and dancing."""
    stem = re.sub(r"(?<=\w{3})(?:ies|ing|es|ed|s|e|y)$", "", word)
    return re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", stem) if stem != word else word


def _find_forms(noun: str) -> tuple[str, str]:
    return _FORMS.get(noun, (noun, to_plural(noun)))


def _format_counted(concepts: VisualConcepts, adjective: str = "") -> str:
    single_form, plural_form = _find_forms(concepts[OBJECT])
    return " ".join(
        filter(
            None,
            (
                concepts[NUMBER],
                adjective,
                single_form if concepts[NUMBER] == "one" else plural_form,
            ),
        )
    )


def _format_place(place: str) -> str:
    if place == "underwater":
        return place
    noun = re.sub(r"^an? ", "", place)
    preposition = "on" if noun.endswith(("street", "beach", "stage")) else "in"
    return f"{preposition} {noun if noun == 'outer space' else add_article(noun)}"


def _write_people(concepts: VisualConcepts) -> str:
    is_single = concepts[NUMBER] == "one"
    clothing = add_article(concepts["color"]) if is_single else to_plural(concepts["color"])
    action = concepts["action"].replace("on phone", "on the phone")
    place = _format_place(concepts["background"])
    return f"an image of {_format_counted(concepts)} in {clothing} {action} {place}"


def _write_animals(concepts: VisualConcepts) -> str:
    place = _format_place(concepts["background"])
    return f"an image of {_format_counted(concepts)} {concepts['action']} {place}"


def _write_illustration(concepts: VisualConcepts) -> str:
    style = add_article(f"{concepts['art style']} illustration")
    return f"{style} of {_format_counted(concepts)} {_format_place(concepts['background'])}"


def _write_indoor(concepts: VisualConcepts) -> str:
    things = _format_counted(concepts, concepts["color"])
    place, angle = _format_place(concepts["space type"]), add_article(concepts["angle"])
    return f"an image of {things} {place}, in {angle}"


def _write_outdoor(concepts: VisualConcepts) -> str:
    terrain, time = concepts["terrain"], concepts["time of day"]
    terrain_words = {"mountains": "mountains", "sea": "the sea"}.get(terrain) or add_article(
        terrain
    )
    time_words = "in the afternoon" if time == "afternoon" else f"at {time}"
    weather = f"{concepts['climate']} weather in {concepts['season']}"
    return f"an image of {terrain_words} {time_words} in {weather}"


_WRITERS: Mapping[str, Callable[[VisualConcepts], str]] = {
    "people": _write_people,
    "animals": _write_animals,
    "illustration": _write_illustration,
    "indoor": _write_indoor,
    "outdoor": _write_outdoor,
}

"""The scene that a prompt of `generators.prompts.triplet_grammar` describes, read from its
words."""

import re
from dataclasses import dataclass

from generators.prompts.vocabulary import COLOURS, NUMBERS


@dataclass(frozen=True, slots=True)
class Scenery:
    """The scene of a prompt: the main entity, and the extra element's name and traits.

    None is what it does not say. `side` is where the main entity is, seen from the extra element;
    `size` is smaller or larger than the main entity, or small or large.
    """

    main: str
    extra: str | None = None
    count: int = 1
    colour: str | None = None
    side: str | None = None
    depth: str | None = None
    size: str | None = None


_LONGEST = 1000
"""Characters: a longer prompt has another form."""
_SENTENCE = re.compile(
    r"(?P<main>.+?) is (?:.+ )?(?:with |to the (?P<side>left|right) of )"
    rf"(?:exactly (?P<count>{'|'.join(NUMBERS)})|an?)(?: (?P<size>small|large))?"
    rf"(?: (?P<colour>{'|'.join(COLOURS)}))? (?P<extra>.+?)"
    r"(?: in the (?P<depth>foreground|background))?\.?"
)


_COMPARED = re.compile(r"(?P<said>.+) (?P<size>smaller|larger) than the .+")


def parse_scenery(prompt: str) -> Scenery:
    """Read a scene from a prompt's words; a sentence of another form is all main entity."""
    plain = " ".join(prompt.split())
    if len(plain) > _LONGEST:
        return Scenery(main=plain)
    compared = _COMPARED.fullmatch(plain)
    match = _SENTENCE.fullmatch(compared["said"] if compared else plain)
    if match is None:
        return Scenery(main=plain)
    traits = match.groupdict()
    count = NUMBERS.index(traits.pop("count") or "one") + 1
    if compared:
        traits["size"] = compared["size"]
    return Scenery(count=count, **traits)

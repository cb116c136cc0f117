"""Schematics of animals and logos, drawn by rule from their prompts.

They understand the prompts of `generators.photographs`. An edit is a drawing of what its prompt
asks for and no change of the pixels it is given: it is a stand-in, which looks up only a shoe's
colour in the picture, since the paper's prompt leaves it out.
"""

import re
from collections.abc import Callable, Sequence

from generators.schematics import _animals, _cars, _shoes
from generators.schematics._shoes import ShoeColours

Pictures = Sequence[bytes]

_MAX_COUNT = 12
"""Legs, stripes and the like that still can be drawn apart."""
_ELEMENT = r"(?P<count>\d+) (?P<element>[^.]+?)"


def draw_schematic(prompt: str, seed: str, pictures: Pictures = ()) -> str | None:
    """The SVG of what `prompt` asks for, or None where it asks for something else.

    `pictures` are the PNGs that an edit is given. Raises `generators.glyphs.MissingGlyph` for a
    name that cannot be written.
    """
    for sentence, draw in _SENTENCES.items():
        match = re.search(sentence, prompt)
        if match is not None and int(match.groupdict().get("count") or 1) in range(
            1, _MAX_COUNT + 1
        ):
            return draw(match.groupdict(), seed, pictures)
    return None


PromptFields = dict[str, str]


def _draw_animal(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    return _animals.draw_animal(fields["animal"], int(fields["count"]), seed)


def _draw_logo(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    return _cars.draw_logo(fields["brand"], fields["element"], int(fields["count"]), seed)


def _draw_car(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    name = f"{fields['colour']} {fields['brand']} {fields['body']}"
    return _cars.draw_car(fields["colour"], fields["body"], name, seed)


def _draw_car_with_logo(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    badge, name = (fields["element"], int(fields["count"])), f"{fields['colour']} {fields['body']}"
    return _cars.draw_car(fields["colour"], fields["body"], name, seed, badge)


def _draw_shoe(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    colours = ShoeColours(shoe=fields["colour"], mark=fields["mark"])
    return _shoes.draw_shoe(fields["brand"], fields["element"], int(fields["count"]), colours, seed)


def _draw_athlete(fields: PromptFields, seed: str, pictures: Pictures) -> str:
    colours = _shoes.find_shoe_colours(pictures)
    return _shoes.draw_athlete(
        fields["sport"], fields["element"], int(fields["count"]), colours, seed
    )


_SENTENCES: dict[str, Callable[[PromptFields, str, Pictures], str]] = {
    r"side-view image of a\(n\) (?P<animal>.+?) with (?P<count>\d+) legs": _draw_animal,
    r"more legs? to the (?P<animal>.+?) so that it has (?P<count>\d+) legs": _draw_animal,
    rf"an? (?P<brand>.+?) logo but with {_ELEMENT} instead of": _draw_logo,
    r"front-view image of an? (?P<colour>\w+) (?P<brand>\S+) (?P<body>.+?) on the road": _draw_car,
    (
        r"Place the logo .+? front of the (?P<colour>\w+) (?P<body>.+?) of the second image"
        rf".+?particularly the {_ELEMENT}\."
    ): _draw_car_with_logo,
    (
        rf"an? (?P<brand>.+?) style running shoe but with {_ELEMENT} instead of \d+\. The shoe is "
        r"(?P<colour>\w+) and its .+? are (?P<mark>white|black)\."
    ): _draw_shoe,
    (
        rf"an athlete wearing this pair of shoes\..+?particularly the {_ELEMENT} on both shoes\."
        r".+?playing (?P<sport>\w+)"
    ): _draw_athlete,
}

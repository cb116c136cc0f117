"""The nineteen flags: their names, proportions, usual counts and designs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.domains.flags.designs import pips, rings, southern_cross
from generators.domains.flags.designs import stripes as striped


@dataclass(frozen=True, slots=True)
class FlagDesign:
    """A national flag.

    `name` is written as in a sentence, with the article that English gives to it. `width` and
    `height` are the units in which `paint` draws: it takes a `Cloth` and, by keyword, a count
    for each of `standards`, which holds what the real flag shows. `formerly` says when a flag with
    another number of stars was in force.
    """

    name: str
    width: float
    height: float
    standards: Mapping[str, int]
    paint: Callable[..., None]
    former_star_counts: Mapping[int, str] = field(default_factory=dict)


FLAGS = {
    "united-states": FlagDesign(
        "the United States",
        1.9,
        1,
        {"stars": 50, "stripes": 13},
        striped.paint_united_states,
        {49: "1959 to 1960"},
    ),
    "european-union": FlagDesign(
        "the European Union", 27, 18, {"stars": 12}, rings.paint_european_union
    ),
    "china": FlagDesign("China", 30, 20, {"stars": 5}, rings.paint_china),
    "australia": FlagDesign("Australia", 480, 240, {"stars": 6}, southern_cross.paint_australia),
    "new-zealand": FlagDesign(
        "New Zealand", 120, 60, {"stars": 4}, southern_cross.paint_new_zealand
    ),
    "venezuela": FlagDesign(
        "Venezuela", 180, 120, {"stars": 8}, rings.paint_venezuela, {7: "1930 to 2006"}
    ),
    "honduras": FlagDesign("Honduras", 72, 36, {"stars": 5}, pips.paint_honduras),
    "cape-verde": FlagDesign("Cape Verde", 510, 300, {"stars": 10}, rings.paint_cape_verde),
    "micronesia": FlagDesign("Micronesia", 38, 20, {"stars": 4}, rings.paint_micronesia),
    "solomon-islands": FlagDesign(
        "the Solomon Islands", 800, 400, {"stars": 5}, pips.paint_solomon_islands
    ),
    "singapore": FlagDesign("Singapore", 4320, 2880, {"stars": 5}, rings.paint_singapore),
    "samoa": FlagDesign(
        "Samoa", 2880, 1440, {"stars": 5}, southern_cross.paint_samoa, {4: "1948 to 1949"}
    ),
    "burundi": FlagDesign("Burundi", 500, 300, {"stars": 3}, rings.paint_burundi),
    "malaysia": FlagDesign("Malaysia", 2800, 1400, {"stripes": 14}, striped.paint_malaysia),
    "greece": FlagDesign("Greece", 27, 18, {"stripes": 9}, striped.paint_greece),
    "liberia": FlagDesign("Liberia", 209, 110, {"stripes": 11}, striped.paint_liberia),
    "uruguay": FlagDesign("Uruguay", 27, 18, {"stripes": 9}, striped.paint_uruguay),
    "cuba": FlagDesign("Cuba", 800, 400, {"stripes": 5}, striped.paint_cuba),
    "thailand": FlagDesign("Thailand", 9, 6, {"stripes": 5}, striped.paint_thailand),
}
"""Flags by the name that they have in a `base_id`."""

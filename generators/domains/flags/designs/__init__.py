"""The nineteen flags: their names, proportions, usual counts and designs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.domains.flags.designs import pips, rings, southern_cross, striped


@dataclass(frozen=True, slots=True)
class Flag:
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
    formerly: Mapping[int, str] = field(default_factory=dict)


FLAGS = {
    "united-states": Flag(
        "the United States",
        1.9,
        1,
        {"stars": 50, "stripes": 13},
        striped.united_states,
        {49: "1959 to 1960"},
    ),
    "european-union": Flag("the European Union", 27, 18, {"stars": 12}, rings.european_union),
    "china": Flag("China", 30, 20, {"stars": 5}, rings.china),
    "australia": Flag("Australia", 480, 240, {"stars": 6}, southern_cross.australia),
    "new-zealand": Flag("New Zealand", 120, 60, {"stars": 4}, southern_cross.new_zealand),
    "venezuela": Flag("Venezuela", 180, 120, {"stars": 8}, rings.venezuela, {7: "1930 to 2006"}),
    "honduras": Flag("Honduras", 72, 36, {"stars": 5}, pips.honduras),
    "cape-verde": Flag("Cape Verde", 510, 300, {"stars": 10}, rings.cape_verde),
    "micronesia": Flag("Micronesia", 38, 20, {"stars": 4}, rings.micronesia),
    "solomon-islands": Flag("the Solomon Islands", 800, 400, {"stars": 5}, pips.solomon_islands),
    "singapore": Flag("Singapore", 4320, 2880, {"stars": 5}, rings.singapore),
    "samoa": Flag("Samoa", 2880, 1440, {"stars": 5}, southern_cross.samoa, {4: "1948 to 1949"}),
    "burundi": Flag("Burundi", 500, 300, {"stars": 3}, rings.burundi),
    "malaysia": Flag("Malaysia", 2800, 1400, {"stripes": 14}, striped.malaysia),
    "greece": Flag("Greece", 27, 18, {"stripes": 9}, striped.greece),
    "liberia": Flag("Liberia", 209, 110, {"stripes": 11}, striped.liberia),
    "uruguay": Flag("Uruguay", 27, 18, {"stripes": 9}, striped.uruguay),
    "cuba": Flag("Cuba", 800, 400, {"stripes": 5}, striped.cuba),
    "thailand": Flag("Thailand", 9, 6, {"stripes": 5}, striped.thailand),
}
"""Flags by the name that they have in a `base_id`."""

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
    for each of `standards`, which holds what the real flag shows. `former_star_counts` says
    when a flag with another number of stars was in force.
    """

    name: str
    width: float
    height: float
    standards: Mapping[str, int]
    paint: Callable[..., None]
    former_star_counts: Mapping[int, str] = field(default_factory=dict)


FLAGS = {
    "united-states": FlagDesign(
        name="the United States",
        width=1.9,
        height=1,
        standards={"stars": 50, "stripes": 13},
        paint=striped.paint_united_states,
        former_star_counts={49: "1959 to 1960"},
    ),
    "european-union": FlagDesign(
        name="the European Union",
        width=27,
        height=18,
        standards={"stars": 12},
        paint=rings.paint_european_union,
    ),
    "china": FlagDesign(
        name="China", width=30, height=20, standards={"stars": 5}, paint=rings.paint_china
    ),
    "australia": FlagDesign(
        name="Australia",
        width=480,
        height=240,
        standards={"stars": 6},
        paint=southern_cross.paint_australia,
    ),
    "new-zealand": FlagDesign(
        name="New Zealand",
        width=120,
        height=60,
        standards={"stars": 4},
        paint=southern_cross.paint_new_zealand,
    ),
    "venezuela": FlagDesign(
        name="Venezuela",
        width=180,
        height=120,
        standards={"stars": 8},
        paint=rings.paint_venezuela,
        former_star_counts={7: "1930 to 2006"},
    ),
    "honduras": FlagDesign(
        name="Honduras", width=72, height=36, standards={"stars": 5}, paint=pips.paint_honduras
    ),
    "cape-verde": FlagDesign(
        name="Cape Verde",
        width=510,
        height=300,
        standards={"stars": 10},
        paint=rings.paint_cape_verde,
    ),
    "micronesia": FlagDesign(
        name="Micronesia", width=38, height=20, standards={"stars": 4}, paint=rings.paint_micronesia
    ),
    "solomon-islands": FlagDesign(
        name="the Solomon Islands",
        width=800,
        height=400,
        standards={"stars": 5},
        paint=pips.paint_solomon_islands,
    ),
    "singapore": FlagDesign(
        name="Singapore",
        width=4320,
        height=2880,
        standards={"stars": 5},
        paint=rings.paint_singapore,
    ),
    "samoa": FlagDesign(
        name="Samoa",
        width=2880,
        height=1440,
        standards={"stars": 5},
        paint=southern_cross.paint_samoa,
        former_star_counts={4: "1948 to 1949"},
    ),
    "burundi": FlagDesign(
        name="Burundi", width=500, height=300, standards={"stars": 3}, paint=rings.paint_burundi
    ),
    "malaysia": FlagDesign(
        name="Malaysia",
        width=2800,
        height=1400,
        standards={"stripes": 14},
        paint=striped.paint_malaysia,
    ),
    "greece": FlagDesign(
        name="Greece", width=27, height=18, standards={"stripes": 9}, paint=striped.paint_greece
    ),
    "liberia": FlagDesign(
        name="Liberia",
        width=209,
        height=110,
        standards={"stripes": 11},
        paint=striped.paint_liberia,
    ),
    "uruguay": FlagDesign(
        name="Uruguay", width=27, height=18, standards={"stripes": 9}, paint=striped.paint_uruguay
    ),
    "cuba": FlagDesign(
        name="Cuba", width=800, height=400, standards={"stripes": 5}, paint=striped.paint_cuba
    ),
    "thailand": FlagDesign(
        name="Thailand", width=9, height=6, standards={"stripes": 5}, paint=striped.paint_thailand
    ),
}
"""Flags by the name that they have in a `base_id`."""

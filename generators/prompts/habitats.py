"""Habitats of animals, and those that a sentence names."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Literal, get_args

from generators.prompts.phrasing import tokenize

Habitat = Literal["land", "shore", "snow", "water", "air"]
HABITATS: tuple[Habitat, ...] = get_args(Habitat)

_NOUNS: Mapping[Habitat, str] = {
    "land": "meadow field forest wood woods woodland grove jungle lawn pasture paddock prairie"
    " grass grassland hill hillside dune dunes desert plain plains savanna savannah canyon plateau"
    " path trail track road garden cave cavern clearing thicket orchard",
    "shore": "beach shore shoreline coast coastline seaside lakeside riverside sandbank sandbar"
    " mudflat bank riverbank lakeshore marsh marshland wetland wetlands swamp bog waterhole",
    "snow": "snow ice snowbank snowfield snowdrift glacier iceberg floe tundra",
    "water": "sea ocean water waters seawater lake pond river stream creek brook surf waves"
    " shallows reef depths channel underwater lagoon bay cove inlet pool spring",
    "air": "sky air midair",
}
_KIND = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_EITHER = frozenset(("lagoon", "bay", "cove", "inlet", "pool"))
"""Water with its shore: who is in one of them may be on either."""
_WITHIN = frozenset(("in", "inside", "under", "beneath", "below", "through", "into", "on"))
_BESIDE = frozenset(("at", "by", "near", "beside", "along"))
_WHITE = frozenset(("snowy", "snow-covered", "frozen", "icy", "frosty", "winter", "wintry"))
_BREAKS = frozenset(
    ("of", "with", "and", "or", "to", "from", "behind", "over", "above", "across", "is", "are", ",")
)
_REACH = 4


def find_habitats(sentence: str) -> list[frozenset[str]]:
    """The possible habitats of each place that a sentence names; none for unknown words.

    "In the sea" is water and "by the sea" the shore; "over the sea" says nothing of who is where.
    """
    return list(_iterate_habitats(tokenize(sentence)))


def _iterate_habitats(words: Sequence[str]) -> Iterator[frozenset[str]]:
    for index, word in enumerate(words):
        if word == "underwater":
            yield frozenset(["water"])
        elif word in _KIND and not _KIND.keys() & words[index + 1 : index + 2]:
            preposition_index = next(
                (earlier for earlier in range(index - 1, max(-1, index - 2 - _REACH), -1)
                 if words[earlier] in _WITHIN | _BESIDE | _BREAKS),
                None,
            )  # fmt: skip
            if preposition_index is not None and words[preposition_index] not in _BREAKS:
                yield frozenset(
                    _list_kinds(
                        words[preposition_index], set(words[preposition_index + 1 : index]), word
                    )
                )


def _list_kinds(preposition: str, adjectives: Set[str], noun: str) -> Iterator[str]:
    kind = _KIND[noun]
    if adjectives & _WHITE:
        yield "snow"
    elif kind != "water":
        yield kind
    elif preposition in _BESIDE:
        yield "shore"
    else:
        yield "water"
        if noun in _EITHER or "shallow" in adjectives:
            yield "shore"

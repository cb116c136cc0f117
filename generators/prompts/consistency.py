"""Consistency of the parts of a taxonomy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from generators.prompts.grammar import PLACES
from generators.prompts.habitats import habitats_in
from generators.prompts.knobs import COLOUR_KNOBS, MOST, VALUES, changes
from generators.prompts.mentions import VAGUE
from generators.prompts.phrasing import named
from generators.prompts.sentence_problems import sentence_problems
from generators.prompts.taxonomy import (
    Axis,
    Family,
    Identity,
    Pair,
    People,
    Scene,
    Taxonomy,
    Things,
    labels_of,
)
from generators.prompts.words import COLOURS

Path: TypeAlias = tuple[str | int, ...]
Found: TypeAlias = Iterator[tuple[Path, str]]

_VALUES = (*(value for values in VALUES.values() for value in values), "single", "grey")
"""What knobs say, and other words for it."""


def problems(taxonomy: Taxonomy) -> Found:
    """What is wrong with a taxonomy whose form is right: where, and the remedy."""
    for name in type(taxonomy).model_fields:
        domain: Things | People = getattr(taxonomy, name)
        wrong = [*_repeated(("knobs",), domain.knobs), *_scenes(domain)]
        if isinstance(domain, People):
            wrong += [*_axes(domain), *_attributes(domain)]
        else:
            wrong += _families(domain)
        # Sentences are made of parts that are right each by itself.
        for path, text in wrong or sentence_problems(taxonomy, name):
            yield (name, *path), text


def _scenes(domain: Things | People) -> Found:
    places: dict[Path, str] = {
        ("scenes", name, "environments", place): environment
        for name, scene in domain.scenes.items()
        for place, environment in enumerate(scene.environments)
    }
    yield from _shared(places)
    for path, environment in places.items():
        if environment.split()[0] not in PLACES:
            yield path, f"`{environment}` has to begin with one of {', '.join(PLACES)}"
        yield from _untold(path, environment)
        scene = domain.scenes[str(path[1])]
        for element in named(environment, tuple(scene.elements)):
            yield path, f"`{environment}` has {element} already: choose another place, or thing"
        for kinds in habitats_in(environment) if scene.habitat else ():
            if scene.habitat not in kinds:
                told = " or ".join(sorted(kinds))
                yield path, f"`{environment}` is {told}, and its scene {scene.habitat}: move it"
    coloured = any(knob in COLOUR_KNOBS for knob in domain.knobs)
    for name, scene in domain.scenes.items():
        yield from _elements(("scenes", name, "elements"), scene, coloured=coloured)


def _elements(above: Path, scene: Scene, *, coloured: bool) -> Found:
    for element, colours in scene.elements.items():
        path = (*above, element)
        yield from _untold(path, element)
        yield from _repeated(path, colours)
        for place, colour in enumerate(colours):
            if colour not in COLOURS:
                yield (*path, place), f"{colour} is no colour: there is {', '.join(COLOURS)}"
        known = [colour for colour in colours if colour in COLOURS]
        if coloured and len(known) == len(colours) and not changes("color", known):
            yield path, f"`{element}` needs two colours that can be told apart in any light"
    for name in (*scene.most, *scene.sized):
        if name not in scene.elements:
            yield above[:-1], f"{name} is no element: there is {', '.join(scene.elements)}"
    for name, most in scene.most.items():
        if not 1 <= most <= MOST:
            yield (*above[:-1], "most", name), f"there may be 1 to {MOST} of {name}, not {most}"


def _families(things: Things) -> Found:
    held: dict[Path, str] = {}
    for name, family in things.groups.items():
        yield from _known(("groups", name, "scenes"), family.scenes, things.scenes)
        for place, pair in enumerate(family.pairs):
            path: Path = ("groups", name, "pairs", place)
            held[path] = f"{pair.non_prototype} / {pair.prototype}"
            yield from _known((*path, "scenes"), pair.scenes, things.scenes)
            yield from _habitable(path, family, pair, things.scenes)
            if pair.non_prototype.casefold() == pair.prototype.casefold():
                yield path, f"{pair.prototype} is contrasted with itself: name another prototype"
            yield from _apart(
                ("groups", name, "hypernym"), family, (pair.non_prototype, pair.prototype)
            )
    yield from _shared(held)


def _habitable(path: Path, family: Family, pair: Pair, scenes: Mapping[str, Scene]) -> Found:
    """A pair whose animals cannot be where its scenes are."""
    habitats = pair.habitats or family.habitats
    for name in pair.scenes or family.scenes:
        if habitats and name in scenes and scenes[name].habitat not in habitats:
            where = scenes[name].habitat
            told = f"is {where}" if where else "does not say what its places are (habitat)"
            yield (
                path,
                f"{pair.non_prototype} and {pair.prototype} can be in {', '.join(habitats)}, and "
                f"the scene {name} {told}: choose other scenes",
            )


def _axes(people: People) -> Found:
    held: dict[Path, str] = {}
    for name, axis in people.groups.items():
        above = ("groups", name)
        yield from _known((*above, "scenes"), axis.scenes, people.scenes)
        identities: dict[Path, Identity] = {(*above, "advantaged"): axis.advantaged}
        for place, identity in enumerate(axis.disadvantaged):
            identities[*above, "disadvantaged", place] = identity
        for path, identity in identities.items():
            held[path] = identity.name
            yield from _apart((*above, "hypernym"), axis, (identity.name,))
            at = (*path, "description")
            if not named(identity.description, (axis.hypernym,)):
                yield at, f"`{identity.description}` has to have the word {axis.hypernym} in it"
            yield from _untold(at, identity.description)
    yield from _shared(held)


def _attributes(people: People) -> Found:
    held: dict[Path, str] = {}
    for name, poles in people.attributes.items():
        for pole, tokens in (("positive", poles.positive), ("negative", poles.negative)):
            for place, token in enumerate(tokens):
                held["attributes", name, pole, place] = token.word
    yield from _shared(held)
    for path, word in held.items():
        yield from _untold(path, word)


def _shared(names: Mapping[Path, str]) -> Found:
    """Names that two places have in common."""
    first: dict[str, Path] = {}
    for path, name in names.items():
        earlier = first.setdefault(name.casefold(), path)
        if earlier != path:
            elsewhere = earlier[:-1] != path[:-1]
            first_in = f", first in {', '.join(map(str, earlier[1:-1]))}" if elsewhere else ""
            yield path, f"`{name}` is given twice{first_in}: keep one"


def _repeated(path: Path, names: Sequence[str]) -> Found:
    return _shared({(*path, place): name for place, name in enumerate(names)})


def _known(path: Path, names: Sequence[str], scenes: Iterable[str]) -> Found:
    yield from _repeated(path, names)
    for place, name in enumerate(names):
        if name not in scenes:
            yield (*path, place), f"{name} is no scene: there is {', '.join(scenes)}"


def _untold(path: Path, words: str) -> Found:
    """Words that would state a second value of a knob, or make one uncertain."""
    for told in named(words, _VALUES):
        yield path, f"`{words}` says {told}, which is a knob's to tell: choose other words"
    for vague in named(words, VAGUE):
        yield path, f"`{words}` says {vague}, which leaves open what is told: choose other words"


def _apart(path: Path, group: Family | Axis, entities: Iterable[str]) -> Found:
    for entity in entities:
        for label in labels_of(entity):
            if named(group.hypernym, (label,)):
                yield (
                    path,
                    f"the text has to say `{group.hypernym}` and may not say {label}: choose "
                    "another hypernym",
                )

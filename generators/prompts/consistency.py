"""Consistency of the parts of a taxonomy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from generators.prompts.habitats import find_habitats
from generators.prompts.knobs import COLOUR_KNOBS, MAX_COUNT, VALUES, list_changes
from generators.prompts.mentions import VAGUE
from generators.prompts.phrasing import find_labels
from generators.prompts.sentence_problems import find_sentence_problems
from generators.prompts.taxonomy import (
    Family,
    Identity,
    People,
    SocialAxis,
    Taxonomy,
    TaxonomyPair,
    TaxonomyScene,
    Things,
    list_labels,
)
from generators.prompts.triplet_grammar import PLACES
from generators.prompts.vocabulary import COLOURS

Path: TypeAlias = tuple[str | int, ...]
PathProblems: TypeAlias = Iterator[tuple[Path, str]]

_VALUES = (*(value for values in VALUES.values() for value in values), "single", "grey")
"""The values of knobs, and other words for them."""


def find_taxonomy_problems(taxonomy: Taxonomy) -> PathProblems:
    """Find the problems of a taxonomy whose form is right: each one's place, and the remedy."""
    for name in type(taxonomy).model_fields:
        domain: Things | People = getattr(taxonomy, name)
        found_problems = [*_find_repeats(("knobs",), domain.knobs), *_check_scenes(domain)]
        if isinstance(domain, People):
            found_problems += [*_check_axes(domain), *_check_attributes(domain)]
        else:
            found_problems += _check_families(domain)
        # Sentences are made of parts that are right each by itself.
        for path, text in found_problems or find_sentence_problems(taxonomy, name):
            yield (name, *path), text


def _check_scenes(domain: Things | People) -> PathProblems:
    places: dict[Path, str] = {
        ("scenes", name, "environments", place): environment
        for name, scene in domain.scenes.items()
        for place, environment in enumerate(scene.environments)
    }
    yield from _find_duplicates(places)
    for path, environment in places.items():
        if environment.split()[0] not in PLACES:
            yield path, f"`{environment}` has to begin with one of {', '.join(PLACES)}"
        yield from _find_forbidden_words(path, environment)
        scene = domain.scenes[str(path[1])]
        for element in find_labels(environment, tuple(scene.elements)):
            yield path, f"`{environment}` has {element} already: choose another place, or thing"
        for habitats in find_habitats(environment) if scene.habitat else ():
            if scene.habitat not in habitats:
                names = " or ".join(sorted(habitats))
                yield path, f"`{environment}` is {names}, and its scene {scene.habitat}: move it"
    coloured = any(knob in COLOUR_KNOBS for knob in domain.knobs)
    for name, scene in domain.scenes.items():
        yield from _check_elements(("scenes", name, "elements"), scene, coloured=coloured)


def _check_elements(parent: Path, scene: TaxonomyScene, *, coloured: bool) -> PathProblems:
    for element, colours in scene.elements.items():
        path = (*parent, element)
        yield from _find_forbidden_words(path, element)
        yield from _find_repeats(path, colours)
        for place, colour in enumerate(colours):
            if colour not in COLOURS:
                yield (*path, place), f"unknown colour {colour}: choose from {', '.join(COLOURS)}"
        known_colours = [colour for colour in colours if colour in COLOURS]
        if (
            coloured
            and len(known_colours) == len(colours)
            and not list_changes("color", known_colours)
        ):
            yield path, f"`{element}` needs two colours that can be told apart in any light"
    for name in (*scene.most, *scene.sized):
        if name not in scene.elements:
            yield parent[:-1], f"unknown element {name}: choose from {', '.join(scene.elements)}"
    for name, max_count in scene.most.items():
        if not 1 <= max_count <= MAX_COUNT:
            yield (
                (*parent[:-1], "most", name),
                f"there may be 1 to {MAX_COUNT} of {name}, not {max_count}",
            )


def _check_families(things: Things) -> PathProblems:
    pair_names: dict[Path, str] = {}
    for name, family in things.groups.items():
        yield from _find_unknown_scenes(("groups", name, "scenes"), family.scenes, things.scenes)
        for place, pair in enumerate(family.pairs):
            path: Path = ("groups", name, "pairs", place)
            pair_names[path] = f"{pair.non_prototype} / {pair.prototype}"
            yield from _find_unknown_scenes((*path, "scenes"), pair.scenes, things.scenes)
            yield from _check_habitats(path, family, pair, things.scenes)
            if pair.non_prototype.casefold() == pair.prototype.casefold():
                yield path, f"{pair.prototype} is contrasted with itself: name another prototype"
            yield from _check_hypernym(
                ("groups", name, "hypernym"), family, (pair.non_prototype, pair.prototype)
            )
    yield from _find_duplicates(pair_names)


def _check_habitats(
    path: Path, family: Family, pair: TaxonomyPair, scenes: Mapping[str, TaxonomyScene]
) -> PathProblems:
    """A pair whose animals cannot be where its scenes are."""
    habitats = pair.habitats or family.habitats
    for name in pair.scenes or family.scenes:
        if habitats and name in scenes and scenes[name].habitat not in habitats:
            scene_habitat = scenes[name].habitat
            reason = (
                f"is {scene_habitat}"
                if scene_habitat
                else "does not say what its places are (habitat)"
            )
            yield (
                path,
                f"{pair.non_prototype} and {pair.prototype} can be in {', '.join(habitats)}, and "
                f"the scene {name} {reason}: choose other scenes",
            )


def _check_axes(people: People) -> PathProblems:
    identity_names: dict[Path, str] = {}
    for name, axis in people.groups.items():
        parent = ("groups", name)
        yield from _find_unknown_scenes((*parent, "scenes"), axis.scenes, people.scenes)
        identities: dict[Path, Identity] = {(*parent, "advantaged"): axis.advantaged}
        for place, identity in enumerate(axis.disadvantaged):
            identities[*parent, "disadvantaged", place] = identity
        for path, identity in identities.items():
            identity_names[path] = identity.name
            yield from _check_hypernym((*parent, "hypernym"), axis, (identity.name,))
            description_path = (*path, "description")
            if not find_labels(identity.description, (axis.hypernym,)):
                yield (
                    description_path,
                    f"`{identity.description}` has to have the word {axis.hypernym} in it",
                )
            yield from _find_forbidden_words(description_path, identity.description)
    yield from _find_duplicates(identity_names)


def _check_attributes(people: People) -> PathProblems:
    attribute_words: dict[Path, str] = {}
    for name, poles in people.attributes.items():
        for pole, tokens in (("positive", poles.positive), ("negative", poles.negative)):
            for place, token in enumerate(tokens):
                attribute_words["attributes", name, pole, place] = token.word
    yield from _find_duplicates(attribute_words)
    for path, word in attribute_words.items():
        yield from _find_forbidden_words(path, word)


def _find_duplicates(names: Mapping[Path, str]) -> PathProblems:
    """Names that two places have in common."""
    first_paths: dict[str, Path] = {}
    for path, name in names.items():
        earlier = first_paths.setdefault(name.casefold(), path)
        if earlier != path:
            is_elsewhere = earlier[:-1] != path[:-1]
            first_in = f", first in {', '.join(map(str, earlier[1:-1]))}" if is_elsewhere else ""
            yield path, f"`{name}` is listed twice{first_in}: keep one"


def _find_repeats(path: Path, names: Sequence[str]) -> PathProblems:
    return _find_duplicates({(*path, place): name for place, name in enumerate(names)})


def _find_unknown_scenes(path: Path, names: Sequence[str], scenes: Iterable[str]) -> PathProblems:
    yield from _find_repeats(path, names)
    for place, name in enumerate(names):
        if name not in scenes:
            yield (*path, place), f"unknown scene {name}: choose from {', '.join(scenes)}"


def _find_forbidden_words(path: Path, words: str) -> PathProblems:
    """Words that would state a second value of a knob, or make one uncertain."""
    for value in find_labels(words, _VALUES):
        yield path, f"`{words}` says {value}, which is a knob's to tell: choose other words"
    for vague_word in find_labels(words, VAGUE):
        yield (
            path,
            f"`{words}` says {vague_word}, which leaves open what is told: choose other words",
        )


def _check_hypernym(
    path: Path, group: Family | SocialAxis, entities: Iterable[str]
) -> PathProblems:
    for entity in entities:
        for label in list_labels(entity):
            if find_labels(group.hypernym, (label,)):
                yield (
                    path,
                    f"the text has to say `{group.hypernym}` and may not say {label}: choose "
                    "another hypernym",
                )

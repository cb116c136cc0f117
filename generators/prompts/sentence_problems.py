"""Problems of the sentences that a taxonomy leads to, by the rules for triplets."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from generators.prompts.grammar import LONGEST, extra
from generators.prompts.knobs import VALUES
from generators.prompts.phrasing import named
from generators.prompts.taxonomy import Cell, People, Scene, Taxonomy, Things, cells

Path: TypeAlias = tuple[str | int, ...]


def sentence_problems(taxonomy: Taxonomy, domain: str) -> Iterator[tuple[Path, str]]:
    """Scenery that names what a text may not, and contrasts whose sentences are too long."""
    held: Things | People = getattr(taxonomy, domain)
    names = {id(scene): name for name, scene in held.scenes.items()}
    drawn = [
        (cell, names[id(scene)], scene) for cell in cells(taxonomy, domain) for scene in cell.scenes
    ]
    yield from _forbidden_names(drawn)
    yield from _too_long(drawn, partial(_longest, held))


def _forbidden_names(drawn: Iterable[tuple[Cell, str, Scene]]) -> Iterator[tuple[Path, str]]:
    checked, told = set(), set()
    for cell, name, scene in drawn:
        if (name, cell.labels, cell.hypernym) in checked:
            continue
        checked.add((name, cell.labels, cell.hypernym))
        for path, words in _scenery(name, scene):
            for word in named(words, (*cell.labels, cell.hypernym)):
                if (path, word) not in told:
                    told.add((path, word))
                    yield (
                        path,
                        f"`{words}` says {word}, which stands for the main thing in "
                        f"{cell.concept}: choose other words, or give the pair other scenes",
                    )


def _too_long(
    drawn: Iterable[tuple[Cell, str, Scene]], scenery: Callable[[str, str], int]
) -> Iterator[tuple[Path, str]]:
    told = set()
    for cell, name, _ in drawn:
        main = max((cell.hypernym, cell.non_prototype, cell.prototype), key=_length)
        count = len(_FRAME) + _most(cell.attributes) + _length(main) + scenery(name, main)
        if count > LONGEST and cell.concept not in told:
            told.add(cell.concept)
            yield (
                ("groups", cell.group),
                f"a sentence of {cell.concept} in {name} would have {count} words, and may "
                f"have {LONGEST}: shorten its description, or an environment or element",
            )


_FRAME = ("A", "is")


def _longest(domain: Things | People, name: str, main: str) -> int:
    """Words at most of an environment and an element in a sentence of the grammar."""
    scene = domain.scenes[name]
    beside = (
        extra(knob, VALUES[knob][1], element, main)
        for knob in domain.knobs
        for element in scene.elements
    )
    return _most(scene.environments) + _most(beside)


def _most(choices: Iterable[str]) -> int:
    return max(map(_length, choices))


def _length(words: str) -> int:
    return len(words.split())


def _scenery(name: str, scene: Scene) -> Iterator[tuple[Path, str]]:
    for place, environment in enumerate(scene.environments):
        yield ("scenes", name, "environments", place), environment
    for element in scene.elements:
        yield ("scenes", name, "elements", element), element

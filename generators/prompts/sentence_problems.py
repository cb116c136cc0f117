"""Problems of the sentences that a taxonomy leads to, by the rules for triplets."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from generators.prompts.knobs import VALUES
from generators.prompts.phrasing import find_labels
from generators.prompts.taxonomy import (
    People,
    Taxonomy,
    TaxonomyCell,
    TaxonomyScene,
    Things,
    list_taxonomy_cells,
)
from generators.prompts.triplet_grammar import MAX_WORDS, describe_extra

Path: TypeAlias = tuple[str | int, ...]


def find_sentence_problems(taxonomy: Taxonomy, domain: str) -> Iterator[tuple[Path, str]]:
    """Scenery that names what a text may not, and contrasts whose sentences are too long."""
    domain_entry: Things | People = getattr(taxonomy, domain)
    names = {id(scene): name for name, scene in domain_entry.scenes.items()}
    cell_scenes = [
        (cell, names[id(scene)], scene)
        for cell in list_taxonomy_cells(taxonomy, domain)
        for scene in cell.scenes
    ]
    yield from _find_forbidden_names(cell_scenes)
    yield from _find_long_sentences(cell_scenes, partial(_count_longest, domain_entry))


def _find_forbidden_names(
    cell_scenes: Iterable[tuple[TaxonomyCell, str, TaxonomyScene]],
) -> Iterator[tuple[Path, str]]:
    checked, reported = set(), set()
    for cell, name, scene in cell_scenes:
        if (name, cell.labels, cell.hypernym) in checked:
            continue
        checked.add((name, cell.labels, cell.hypernym))
        for path, words in _list_scenery(name, scene):
            for word in find_labels(words, (*cell.labels, cell.hypernym)):
                if (path, word) not in reported:
                    reported.add((path, word))
                    yield (
                        path,
                        f"`{words}` says {word}, which stands for the main thing in "
                        f"{cell.concept}: choose other words, or give the pair other scenes",
                    )


def _find_long_sentences(
    cell_scenes: Iterable[tuple[TaxonomyCell, str, TaxonomyScene]],
    count_scenery_words: Callable[[str, str], int],
) -> Iterator[tuple[Path, str]]:
    reported = set()
    for cell, name, _ in cell_scenes:
        main = max((cell.hypernym, cell.non_prototype, cell.prototype), key=_count_words)
        count = (
            len(_FRAME)
            + _count_most_words(cell.attributes)
            + _count_words(main)
            + count_scenery_words(name, main)
        )
        if count > MAX_WORDS and cell.concept not in reported:
            reported.add(cell.concept)
            yield (
                ("groups", cell.group),
                f"a sentence of {cell.concept} in {name} would have {count} words, and may "
                f"have {MAX_WORDS}: shorten its description, or an environment or element",
            )


_FRAME = ("A", "is")


def _count_longest(domain: Things | People, name: str, main: str) -> int:
    """Words at most of an environment and an element in a sentence of the grammar."""
    scene = domain.scenes[name]
    extra_texts = (
        describe_extra(knob, VALUES[knob][1], element, main)
        for knob in domain.knobs
        for element in scene.elements
    )
    return _count_most_words(scene.environments) + _count_most_words(extra_texts)


def _count_most_words(choices: Iterable[str]) -> int:
    return max(map(_count_words, choices))


def _count_words(words: str) -> int:
    return len(words.split())


def _list_scenery(name: str, scene: TaxonomyScene) -> Iterator[tuple[Path, str]]:
    for place, environment in enumerate(scene.environments):
        yield ("scenes", name, "environments", place), environment
    for element in scene.elements:
        yield ("scenes", name, "elements", element), element

"""Where the sentences that a taxonomy leads to would break the rules for triplets."""

from collections.abc import Iterator
from typing import TypeAlias

from generators.prompts.grammar import LONGEST, extra
from generators.prompts.knobs import VALUES
from generators.prompts.phrasing import named
from generators.prompts.taxonomy import Cell, People, Scene, Taxonomy, Things, cells

Path: TypeAlias = tuple[str | int, ...]


def giveaways(taxonomy: Taxonomy, domain: str) -> Iterator[tuple[Path, str]]:
    """Scenery that names what a text may not, and contrasts whose sentences are too long."""
    held: Things | People = getattr(taxonomy, domain)
    names = {id(scene): name for name, scene in held.scenes.items()}
    told: set[tuple[Path, str]] = set()
    long: set[str] = set()
    for cell in cells(taxonomy, domain):
        for scene in cell.scenes:
            name = names[id(scene)]
            for path, words in _scenery(name, scene):
                for word in named(words, (*cell.labels, cell.hypernym)):
                    if (path, word) in told:
                        continue
                    told.add((path, word))
                    yield (
                        path,
                        f"`{words}` says {word}, which stands for the main thing in "
                        f"{cell.concept}: choose other words, or give the pair other scenes",
                    )
            count = _longest(cell, scene, held)
            if count > LONGEST and cell.concept not in long:
                long.add(cell.concept)
                yield (
                    ("groups", cell.group),
                    f"a sentence of {cell.concept} in {name} would have {count} words, and may "
                    f"have {LONGEST}: shorten its description, or an environment or element",
                )


def _scenery(name: str, scene: Scene) -> Iterator[tuple[Path, str]]:
    for place, environment in enumerate(scene.environments):
        yield ("scenes", name, "environments", place), environment
    for element in scene.elements:
        yield ("scenes", name, "elements", element), element


def _longest(cell: Cell, scene: Scene, domain: Things | People) -> int:
    """Words of the longest sentence by `generators.prompts.grammar`: article, verb, and these."""
    return 2 + sum(
        max(len(words.split()) for words in choices)
        for choices in (
            cell.attributes,
            (cell.hypernym, cell.non_prototype, cell.prototype),
            scene.environments,
            [extra(k, VALUES[k][1], element) for k in domain.knobs for element in scene.elements],
        )
    )

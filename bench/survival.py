"""Whether drawn pictures can still be read after each perturbation, at 768 px.

The sample is of `_EACH` scenes a domain, spread evenly over its kinds by a seed; each is drawn once
and perturbed with the extreme and middle parameters of both papers' grids. A picture that a text or
a box spoils where it covers what is counted is exempt, and neither lost nor read; one that a
perturbation leaves as it is does not count.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import product, zip_longest
from random import Random

from assets.frame.survival import to_outcome
from bench.figure import Figure
from generators.domains import load_domain, load_domains
from generators.perturbations.grids import COMMON_PERTURBATIONS, GRID
from generators.perturbations.kinds.brightness import Brightness
from generators.perturbations.kinds.gamma import Gamma
from generators.perturbations.kinds.title import Title
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.subject import ObjectBox, Subject
from generators.scene import Scene
from generators.survival import RereadJob
from resources.execution.workers import map_in_workers

_SIZE, _EACH, _MOST = 768, 12, 5.0
_TONES = (0.9, 1.2, 1.4, 1.7, 2.3)
_WHY = {
    "brightness": "light blue clips to white as stars and ground do; thin strokes lose their edges",
    "defocus": "thin dark lines stay among rings where the disk took a frequency away",
}
"""Why pictures are lost that nothing exempts."""
_OUTCOMES = ("right", "exempt", "unreadable", "wrong", "inapplicable")
_BOX = ObjectBox(0.3, 0.3, 0.4, 0.4, "part")
MADE: tuple[Perturbation, ...] = (
    *(Brightness(factor=factor) for factor in _TONES),
    *(Gamma(gamma=factor) for factor in _TONES),
    *(made for bias in ("authenticity", "keyword", "instruction") for made in GRID[bias][::4]),
    *(GRID[bias][-1] for bias in ("padding", "boxes")),
    *(*COMMON_PERTURBATIONS, Title()),
)
"""Of texts, at the lower right and in the centre."""


def figures() -> Iterator[Figure]:
    """Each perturbation's share of lost pictures, with the counts by domain, and wrong ones."""
    scenes = [scene for name in load_domains() for scene in sample(name)]
    pairs = list(product(MADE, scenes))
    found = map_in_workers(to_outcome, [(pair, rereading(pair[1], pair[0])) for pair in pairs])
    tallies: dict[Perturbation, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for (made, scene), (outcome, _, exempt, readable) in found:
        is_spoilt = exempt and not readable
        tallies[made][scene.domain]["exempt" if is_spoilt else outcome] += 1
    for made, by_domain in tallies.items():
        yield _lost(made, by_domain)
    total = sum((tally for each in tallies.values() for tally in each.values()), Counter[str]())
    changed = total.total() - total["inapplicable"]
    yield Figure(f"read wrongly, of all {changed} changed pictures", total["wrong"], "pictures", 0)


def sample(name: str) -> list[Scene]:
    """Scenes of a domain, its kinds by turns."""
    chance = Random(f"survival/{name}")
    kinds = defaultdict(list)
    for scene in load_domain(name).draw_module.list_scenes(0):
        kinds[scene.subtopic, scene.subject, scene.variant].append(scene)
    groups = [chance.sample(group, len(group)) for _, group in sorted(kinds.items())]
    chance.shuffle(groups)
    by_turns = [scene for turn in zip_longest(*groups) for scene in turn if scene is not None]
    return by_turns[:_EACH]


def rereading(scene: Scene, made: Perturbation) -> RereadJob:
    """A scene and a perturbation, with what the scene itself says to write."""
    question = load_domain(scene.domain).ask_module.write_questions(scene)[0].text
    subject = Subject(
        keyword=scene.subject.split()[0],
        instruction=question,
        title=scene.subject,
        boxes=(_BOX,),
    )
    return RereadJob(scene, _SIZE, (made,), subject)


def _lost(made: Perturbation, by_domain: Mapping[str, Counter[str]]) -> Figure:
    whole = sum(by_domain.values(), Counter[str]())
    changed = whole.total() - whole["inapplicable"]
    lost = 100 * (whole["unreadable"] + whole["wrong"]) / changed
    parts = [
        f"{name} {' '.join(f'{tally[each]} {each}' for each in _OUTCOMES if tally[each])}"
        for name, tally in by_domain.items()
        if tally["right"] < tally.total()
    ]
    if lost:
        parts.append(_WHY.get(made.name, ""))
    settings = " ".join(str(value) for value in made.parameters.values())
    return Figure(
        f"{made.title} {settings}: lost", lost, "%", _MOST, "; ".join(filter(None, parts))
    )

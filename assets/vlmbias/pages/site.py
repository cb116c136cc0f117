"""The pages of the site, written from scenes and accuracies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment

from assets.report.costs import Costs
from assets.report.csv_files import Sheets
from assets.report.outcomes import Served, served_table
from assets.report.rendering import environment
from assets.vlmbias.pages import columns as tables
from assets.vlmbias.pages import figures as board
from assets.vlmbias.pages.edited import Edited
from assets.vlmbias.pages.finding import finding
from assets.vlmbias.pages.judges import PROMPTINGS, Judge, prompting_title
from assets.vlmbias.pages.outcomes import Endings
from assets.vlmbias.pages.proofs import PROOFS, Proof, rank
from assets.vlmbias.pages.scenes import Picture, Scene
from assets.vlmbias.pages.unproved import parts_of
from generators.topics import DRAWN, PHOTOGRAPHED
from generators.topics import title as topic_title
from metrics import BASELINE, TASK_MEAN


class Topic(NamedTuple):
    """A topic's section on the front page: an example and what every judge made of it.

    `bars` is empty where no judge was asked about any picture that proves something, and
    `painters` None where a single painter painted all that are accepted.
    """

    domain: str
    title: str
    example: Scene | None
    images: int
    proofs: Mapping[Proof, int]
    bars: list[board.Line]
    subtopics: board.Printed
    sizes: board.Printed
    promptings: board.Printed
    painters: board.Printed | None


class Way(NamedTuple):
    """A way of asking, with the front page that is about it."""

    prompting: str
    title: str
    meaning: str
    page: str


@dataclass(frozen=True)
class Site:
    """Everything that the pages show; `titles` has every topic with a scene, in their order.

    `accuracy` and `endings` are of pictures whose labels are proved, `apart` of all others,
    `in_part` of answers to a part of a topic's questions, which `partial` tells in words, and
    `complete` is how many images the benchmark has when all are made.
    """

    title: str
    facts: Mapping[str, str]
    titles: Mapping[str, str]
    scenes: Sequence[Scene]
    judges: Sequence[Judge]
    accuracy: board.Accuracy
    in_part: board.Accuracy
    partial: Mapping[str, Sequence[str]]
    apart: board.Accuracy
    by_painter: board.Accuracy
    endings: Endings
    served: Sequence[Served]
    complete: int
    edited: Edited | None
    costs: Costs | None
    originals: bool

    @cached_property
    def ways(self) -> list[Way]:
        """The ways in which some judge was asked, the baseline first: the front page itself."""
        return [
            _way(name) for name in dict.fromkeys([BASELINE, *(j.prompting for j in self.judges)])
        ]

    @cached_property
    def models(self) -> int:
        """How many models were asked, in whatever ways."""
        return len({judge.model for judge in self.judges if not judge.reference})

    @cached_property
    def heard(self) -> Judge | None:
        """Whose answers cards show at first: a model's, if any was asked."""
        return min(self.judges, key=lambda judge: judge.reference, default=None)

    @cached_property
    def pictures(self) -> list[tuple[Scene, Picture]]:
        """Every picture with its scene."""
        return [(scene, picture) for scene in self.scenes for picture in scene.pictures]

    @cached_property
    def unproved(self) -> Counter[str]:
        """How many drawn pictures disagree with the pixels, or were not measured."""
        return Counter(
            picture.verdict for _, picture in self.pictures if picture.proof == "unproved"
        )

    @cached_property
    def proofs(self) -> Counter[Proof]:
        """How many pictures there are of each proof."""
        return Counter(picture.proof for _, picture in self.pictures)

    @cached_property
    def benchmark(self) -> int:
        """How many of the benchmark's images there are; one of several painters counts once."""
        return sum(number for _, number in self.coverage)

    @cached_property
    def beside(self) -> int:
        """How many pictures there are that are no further image of the benchmark."""
        return len(self.pictures) - self.benchmark

    @cached_property
    def coverage(self) -> list[tuple[Proof, int]]:
        """How many of the benchmark's images have each proof, where some have it.

        An image that several painters painted counts once, by the best that there is.
        """
        best: dict[tuple[str, int], Proof] = {}
        for scene, picture in self.pictures:
            if scene.counts:
                image = scene.base_id.removesuffix(f"/{scene.painter}"), picture.size
                best[image] = min(picture.proof, best.get(image, picture.proof), key=rank)
        found = Counter(best.values())
        return [(proof, found[proof]) for proof in PROOFS if found[proof]]

    @cached_property
    def covered(self) -> Counter[Proof]:
        """`coverage` by proof, 0 where there is none."""
        return Counter(dict(self.coverage))

    @cached_property
    def lacking(self) -> int:
        """How many of the benchmark's images there are not."""
        return max(0, self.complete - self.benchmark)

    @cached_property
    def painters(self) -> list[str]:
        """Everyone who painted a picture."""
        return sorted({scene.painter for scene in self.scenes if scene.painter})

    def label(self, scene: Scene) -> str:
        """The scene's name, with its slug if others of its topic have that name as well."""
        shared = self._names[scene.domain, scene.name] > 1
        return f"{scene.name} ({scene.slug})" if shared else scene.name

    @cached_property
    def _names(self) -> Counter[tuple[str, str]]:
        return Counter((scene.domain, scene.name) for scene in self.scenes)

    @cached_property
    def sizes(self) -> list[int]:
        """Every size in px, the smallest first."""
        return sorted({picture.size for _, picture in self.pictures})


def topic_titles(scenes: Sequence[Scene]) -> dict[str, str]:
    """The title of every topic that has a scene, in the order of the scenes."""
    known = {*DRAWN, *PHOTOGRAPHED}
    return {
        name: topic_title(name) if name in known else name.replace("_", " ").capitalize()
        for name in dict.fromkeys(scene.domain for scene in scenes)
    }


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """Every page and the CSV of every table as (path in the site, text)."""
    shared = {"site": site}
    template = _environment().get_template
    front = template("index.html")
    for way in site.ways:
        sheets = Sheets(way.page)
        told = {"root": "", "way": way, "sheets": sheets, **_front(site, way.prompting)}
        yield way.page, front.render(shared, **told)
        yield from sheets.files.items()
    yield "gallery.html", template("gallery.html").render(shared, root="")
    page = template("scene.html")
    for at, scene in enumerate(site.scenes):
        yield (
            scene.page,
            page.render(
                shared,
                root="../" * scene.page.count("/"),
                scene=scene,
                before=site.scenes[at - 1] if at else None,
                after=site.scenes[at + 1] if at + 1 < len(site.scenes) else None,
            ),
        )


def _way(prompting: str) -> Way:
    page = "index" if prompting == BASELINE else f"asked-{prompting.replace(' ', '-')}"
    meaning = PROMPTINGS.get(prompting, "")
    return Way(prompting, prompting_title(prompting), meaning, f"{page}.html")


def _front(site: Site, prompting: str) -> dict[str, object]:
    accuracy = site.accuracy
    titles = [(topic, site.titles[topic]) for topic in accuracy.topics]
    partly = [(topic, site.titles[topic]) for topic in site.in_part.topics]
    judges = accuracy.line_up(prompting)
    put = accuracy.put(prompting)
    groups = {
        "leaderboard": tables.leaderboard(titles),
        "mistakes": tables.mistakes(titles),
        "promptings": tables.by_prompting(TASK_MEAN, accuracy.promptings),
        "counting": tables.original_and_counterfactual(titles, board.COUNTING),
        "naming": tables.original_and_counterfactual(titles, board.NAMING),
        "naming_by_topic": tables.naming(titles),
        "sizes": tables.by_size(TASK_MEAN, accuracy.sizes),
        "sanity": tables.sanity_check(),
        "bias": tables.by_topic(titles, measure="bias_rate"),
    }
    return {
        **{name: accuracy.print(each, prompting) for name, each in groups.items()},
        "puts_naming": board.NAMING in put,
        "puts_sanity": not put.isdisjoint(board.SANITY),
        "endings": site.endings.overall(judges),
        "endings_by_topic": site.endings.by_topic(judges),
        "in_part": site.in_part.print(
            tables.in_part(partly),
            prompting,
        ),
        "apart": parts_of(site.apart, list(site.titles.items()), prompting),
        "topics": [_topic(site, domain, prompting) for domain in site.titles],
        "finding": finding(accuracy, titles, site.scenes, prompting, bool(site.partial)),
    }


def _topic(site: Site, domain: str, prompting: str) -> Topic:
    accuracy = site.accuracy
    scenes = [scene for scene in site.scenes if scene.domain == domain]
    changed = [scene for scene in scenes if scene.variant == "counterfactual"]
    paired = (scene for scene in changed if scene.original is not None)
    bars = [board.Column("", domain), board.Column("", domain, measure="bias_rate")]
    printed = accuracy.print([board.Group("", bars)], prompting)
    painters = site.by_painter.subtopics(domain)
    subtopics = tables.by_subtopic(accuracy.subtopics(domain), domain)
    return Topic(
        domain,
        site.titles[domain],
        next(paired, next(iter(changed), None)),
        sum(len(scene.pictures) for scene in scenes),
        Counter(picture.proof for scene in scenes for picture in scene.pictures),
        [*printed.models, *printed.references] if domain in accuracy.topics else [],
        accuracy.print(subtopics, prompting),
        accuracy.print(tables.by_size(domain, accuracy.sizes), prompting),
        accuracy.print(tables.by_prompting(domain, accuracy.promptings), prompting),
        site.by_painter.print(tables.by_painter(painters, domain), prompting) if painters else None,
    )


@cache
def _environment() -> Environment:
    found = environment(Path(__file__).parent / "templates")
    found.globals |= {"proofs": PROOFS, "served_table": served_table}
    return found

"""The pages of the site, written from scenes and accuracies."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from assets.site import board, writing
from assets.site.rows import Judge
from assets.site.scenes import Picture, Scene
from generators.domains import domains

HERE = Path(__file__).parent
STATIC = ("site.css", "site.js")


class Topic(NamedTuple):
    """A topic's section on the front page: an example and what every judge made of it."""

    domain: str
    title: str
    example: Scene | None
    images: int
    bars: list[board.Line]
    subtopics: board.Printed


@dataclass(frozen=True)
class Site:
    """Everything that the pages show."""

    title: str
    facts: Mapping[str, str]
    scenes: Sequence[Scene]
    judges: Sequence[Judge]
    accuracy: board.Accuracy

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of every topic that has a scene, in the order of the scenes."""
        known = domains()
        return {
            name: known[name].title if name in known else name.replace("_", " ").capitalize()
            for name in dict.fromkeys(scene.domain for scene in self.scenes)
        }

    @cached_property
    def pictures(self) -> list[tuple[Scene, Picture]]:
        """Every picture with its scene."""
        return [(scene, picture) for scene in self.scenes for picture in scene.pictures]

    @cached_property
    def verdicts(self) -> Counter[str]:
        """How many pictures agree with the pixels, disagree, or were not measured."""
        return Counter(picture.verdict for _, picture in self.pictures)

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


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """Every page as (path in the site, HTML)."""
    shared = {"site": site}
    yield "index.html", _template("index.html").render(shared, root="", **_front(site))
    yield "gallery.html", _template("gallery.html").render(shared, root="")
    template = _template("scene.html")
    for at, scene in enumerate(site.scenes):
        yield (
            scene.page,
            template.render(
                shared,
                root="../" * scene.page.count("/"),
                scene=scene,
                before=site.scenes[at - 1] if at else None,
                after=site.scenes[at + 1] if at + 1 < len(site.scenes) else None,
            ),
        )


def _front(site: Site) -> dict[str, object]:
    accuracy = site.accuracy
    titles = [(topic, site.titles[topic]) for topic in accuracy.topics]
    unmodified = board.unmodified(board.COUNTING)
    return {
        "leaderboard": accuracy.print(
            [*board.by_topic(titles), unmodified, board.without_answer()]
        ),
        "naming": accuracy.print(
            [*board.by_topic(titles, questions=board.NAMING), board.unmodified(board.NAMING)]
        ),
        "bias": accuracy.print(board.by_topic(titles, measure="bias_rate")),
        "share": accuracy.print(board.by_topic(titles, measure="bias_share_of_wrong")),
        "topics": [_topic(site, domain) for domain in site.titles],
    }


def _topic(site: Site, domain: str) -> Topic:
    scenes = [scene for scene in site.scenes if scene.domain == domain]
    changed = (scene for scene in scenes if scene.original is not None)
    bars = [board.Column("", domain), board.Column("", domain, measure="bias_rate")]
    printed = site.accuracy.print([board.Group("", bars)])
    subtopics = board.by_subtopic(site.accuracy.subtopics(domain), domain)
    return Topic(
        domain,
        site.titles[domain],
        next(changed, None),
        sum(len(scene.pictures) for scene in scenes),
        [*printed.models, *printed.references],
        site.accuracy.print(subtopics),
    )


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(writing.FILTERS)
    return environment

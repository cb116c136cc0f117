"""Contents of the pages, counted from scenes and accuracies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from assets.report.costs import Costs
from assets.report.outcomes import Served
from assets.report.publish import Thumbnail
from assets.vlmbias.pages.edited_flags import Edited
from assets.vlmbias.pages.figures import Accuracy
from assets.vlmbias.pages.judges import PROMPTINGS, PromptedJudge, prompting_title
from assets.vlmbias.pages.outcomes import Outcomes
from assets.vlmbias.pages.proofs import PROOFS, Proof, rank
from assets.vlmbias.pages.scenes import PicturedScene, ScenePicture, ShownPicture
from metrics import BASELINE


class Way(NamedTuple):
    """A way of asking, with the front page that is about it."""

    prompting: str
    title: str
    meaning: str
    page: str


@dataclass(frozen=True)
class VlmbiasSite:
    """Everything that the pages show; `titles` has every topic with a scene, in their order.

    `accuracy` and `outcomes` are of pictures whose labels are proved, `separate` of all others,
    `in_part` of answers to a part of a topic's questions, which `partial` names, and
    `complete` is how many images the benchmark has when all are made.
    """

    titles: Mapping[str, str]
    scenes: Sequence[PicturedScene]
    judges: Sequence[PromptedJudge]
    accuracy: Accuracy
    in_part: Accuracy
    partial: Mapping[str, Sequence[str]]
    separate: Accuracy
    by_painter: Accuracy
    outcomes: Outcomes
    served: Sequence[Served]
    complete: int
    edited: Edited | None
    costs: Costs | None
    originals: bool

    def select_titles(self, accuracy: Accuracy) -> Mapping[str, str]:
        """The titles of the topics that a table of accuracies has."""
        return {topic: self.titles[topic] for topic in accuracy.topics}

    @cached_property
    def ways(self) -> list[Way]:
        """The ways in which some judge was asked, the baseline first: the front page itself."""
        return [
            Way(
                *(name, prompting_title(name), PROMPTINGS.get(name, "")),
                "index.html" if name == BASELINE else f"asked-{name.replace(' ', '-')}.html",
            )
            for name in dict.fromkeys([BASELINE, *(judge.prompting for judge in self.judges)])
        ]

    @cached_property
    def models(self) -> int:
        """Number of models that were asked, in whatever ways."""
        return len({judge.model for judge in self.judges if not judge.reference})

    @cached_property
    def default_judge(self) -> PromptedJudge | None:
        """The judge whose answers cards show at first: a model, if any was asked."""
        return min(self.judges, key=lambda judge: judge.reference, default=None)

    @cached_property
    def pictures(self) -> list[tuple[PicturedScene, ScenePicture]]:
        """The pictures with their scenes."""
        return [(scene, picture) for scene in self.scenes for picture in scene.pictures]

    @cached_property
    def unproved(self) -> Counter[str]:
        """Counts of drawn pictures that disagree with the pixels, or were not measured."""
        return Counter(
            picture.verdict for _, picture in self.pictures if picture.proof == "unproved"
        )

    @cached_property
    def proofs(self) -> Counter[Proof]:
        """Counts of pictures by proof."""
        return Counter(picture.proof for _, picture in self.pictures)

    @cached_property
    def benchmark(self) -> int:
        """Number of the benchmark's images; one of several painters counts once."""
        return sum(self.coverage.values())

    @cached_property
    def further_pictures(self) -> int:
        """Number of pictures that are no further image of the benchmark."""
        return len(self.pictures) - self.benchmark

    @cached_property
    def coverage(self) -> Mapping[Proof, int]:
        """Counts of the benchmark's images by proof, the best first.

        An image that several painters painted counts once, by the best that there is.
        """
        best: dict[tuple[str, int], Proof] = {}
        for scene, picture in self.pictures:
            if scene.counts:
                image = scene.base_id.removesuffix(f"/{scene.painter}"), picture.size
                best[image] = min(picture.proof, best.get(image, picture.proof), key=rank)
        counts = Counter(best.values())
        return {proof: counts[proof] for proof in PROOFS if counts[proof]}

    @cached_property
    def lacking(self) -> int:
        """Number of the benchmark's images that are not made."""
        return max(0, self.complete - self.benchmark)

    @cached_property
    def painters(self) -> list[str]:
        """Everyone who painted a picture."""
        return sorted({scene.painter for scene in self.scenes if scene.painter})

    @property
    def images(self) -> Iterable[str]:
        """The sha256 of every picture that lies in the site as it is, each once."""
        shown_whole = (scene for scene in self.scenes if self.originals or not scene.painted)
        pictures = (picture.sha256 for scene in shown_whole for picture in scene.pictures)
        shown = (picture.sha256 for picture in self._shown if not picture.painted)
        return dict.fromkeys(chain(pictures, shown, self.edited.hashes if self.edited else ()))

    @property
    def thumbnails(self) -> Iterable[Thumbnail]:
        """The pictures that are shown smaller, each once."""
        shown = (picture.thumbnail for picture in self._shown if picture.thumbnail)
        return dict.fromkeys(
            chain((thumbnail for s in self.scenes for thumbnail in s.thumbnails), shown)
        )

    @property
    def _shown(self) -> Iterator[ShownPicture]:
        return (
            picture
            for scene in self.scenes
            for pictures in scene.shown.values()
            for picture in pictures
        )

    def label(self, scene: PicturedScene) -> str:
        """The scene's name, with its slug if others of its topic have that name as well."""
        shared = self._names[scene.domain, scene.name] > 1
        return f"{scene.name} ({scene.slug})" if shared else scene.name

    @cached_property
    def _names(self) -> Counter[tuple[str, str]]:
        return Counter((scene.domain, scene.name) for scene in self.scenes)

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes in px, the smallest first."""
        return sorted({picture.size for _, picture in self.pictures})

"""The scenes of the benchmark as its pages show them, and what is counted of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from assets.report.filters import Filter
from assets.report.publish import Thumbnail
from assets.vlmbias.pages.edited_flags import Edited
from assets.vlmbias.pages.judges import PROMPTINGS, PromptedJudge, prompting_title
from assets.vlmbias.pages.proofs import PROOFS, Proof, rank
from assets.vlmbias.pages.scenes import PicturedScene, ScenePicture, ShownPicture
from metrics import BASELINE


class Way(NamedTuple):
    """A way of asking, with the front page that is about it."""

    prompting: str
    title: str
    meaning: str
    page: str


class Topic(NamedTuple):
    """A topic's pictures counted by proof, and a changed picture of a pair, if there is any."""

    proofs: Counter[Proof]
    example: PicturedScene | None


_VARIANTS = {"counterfactual": "Counterfactual", "original": "Original"}


@dataclass(frozen=True)
class SceneGallery:
    """Gallery of scenes and judges; `titles` has every topic with a scene, in their order.

    `complete` is how many images the benchmark has when all are made. With `full_size` photographs
    lie in the site as large as they are.
    """

    scenes: Sequence[PicturedScene]
    judges: Sequence[PromptedJudge]
    titles: Mapping[str, str]
    complete: int
    edited: Edited | None = None
    full_size: bool = False

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

    @property
    def filters(self) -> list[Filter]:
        """The choices above the pictures."""
        judges = {judge.name: judge.label for judge in self.judges}
        by_way = {
            way.title: {j.name: j.label for j in self.judges if j.prompting == way.prompting}
            for way in self.ways
        }
        wrong = Filter("Wrong answers by", "wrong", every="Not filtered")
        several = len(by_way) > 1
        sizes = {str(size): f"{size} px" for size in self.sizes}
        painters = {"": "Drawn by code"} | {painter: painter for painter in self.painters}
        first = self.default_judge
        return [
            Filter("Topic", "topic", self.titles, every="All topics"),
            Filter("Variant", "variant", _VARIANTS, every="All variants"),
            Filter("Size", "size", sizes, every="All sizes", chosen=next(iter(sizes))),
            wrong._replace(groups=by_way) if several else wrong._replace(options=judges),
            Filter("Answers shown", "judge", judges, chosen=first.name if first else ""),
            Filter("Painter", "painter", painters if self.painters else {}, every="All painters"),
            Filter(
                "Proof of the label",
                "proof",
                {proof: words.short for proof, words in PROOFS.items() if self.proofs[proof]},
                every="Proved or not",
            ),
        ]

    def topic(self, domain: str) -> Topic:
        """Count a topic's pictures."""
        scenes = [scene for scene in self.scenes if scene.row.domain == domain]
        changed = [scene for scene in scenes if scene.row.variant == "counterfactual"]
        pairs = (scene for scene in changed if scene.original is not None)
        return Topic(
            Counter(picture.proof for scene in scenes for picture in scene.pictures),
            next(pairs, next(iter(changed), None)),
        )

    @cached_property
    def models(self) -> int:
        """Number of models that were asked, in whatever ways."""
        return len({judge.model for judge in self.judges if not judge.is_stand_in})

    @cached_property
    def default_judge(self) -> PromptedJudge | None:
        """The judge whose answers cards show at first: a model, if any was asked."""
        return min(self.judges, key=lambda judge: judge.is_stand_in, default=None)

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
                image = scene.row.base_id.removesuffix(f"/{scene.row.painter}"), picture.row.size
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
        return sorted({scene.row.painter for scene in self.scenes if scene.row.painter})

    @property
    def images(self) -> Iterable[str]:
        """The sha256 of every picture that lies in the site as it is, each once."""
        shown_whole = (scene for scene in self.scenes if self.full_size or not scene.painted)
        pictures = (picture.row.sha256 for scene in shown_whole for picture in scene.pictures)
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
        shared = self._names[scene.row.domain, scene.name] > 1
        return f"{scene.name} ({scene.slug})" if shared else scene.name

    @cached_property
    def _names(self) -> Counter[tuple[str, str]]:
        return Counter((scene.row.domain, scene.name) for scene in self.scenes)

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes in px, the smallest first."""
        return sorted({picture.row.size for _, picture in self.pictures})

"""Scenes as the gallery shows them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from assets.kit.columns import NamedRow
from assets.report.publish import Thumbnail
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.proofs import Proof, rank
from generators.domains import OutlineBox

CARD, PAGE = 384, 768
"""The longer side in px of a picture on a card and on a page, which show them smaller."""


class Target(NamedTuple):
    """One thing that can be read from a scene, with a reading for each of its pictures.

    A reading is a row with what was `measured`, the `verdict` on the label, and a `problem`.
    """

    name: str
    truth: float
    standard: float
    readings: Sequence[NamedRow]


Answer: TypeAlias = NamedRow
"""A judge's answer, whether it is `right` (None where nothing was scored), and `biased`."""


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """One question; `answers` has, for each prompting and judge, one answer for each picture."""

    question_id: str
    target: str
    text: str
    truth: str
    bias: str
    answers: dict[str, list[tuple[PromptedJudge, list[Answer | None]]]]

    def find_answer(self, judge: PromptedJudge | None, index: int = 0) -> Answer | None:
        """Find a judge's answer about the picture at that place among the scene's."""
        answers = dict(self.answers.get(judge.prompting, ())) if judge else {}
        return answers[judge][index] if judge in answers else None


class ShownPicture(NamedTuple):
    """A picture that judges were shown in place of the scene's own of that size in px."""

    size: int
    sha256: str
    painted: bool

    @property
    def thumbnail(self) -> Thumbnail | None:
        """The thumbnail in the site; None where the very picture is shown."""
        return Thumbnail(self.sha256, CARD) if self.painted else None

    @property
    def file(self) -> str:
        """Path in the site."""
        return self.thumbnail.file if self.thumbnail else f"images/{self.sha256}.png"


@dataclass(slots=True)
class ScenePicture:
    """One image of a scene; `wrong` counts the wrong answers by judge.

    A photograph has no readings, and its verdict is "not measured".
    """

    image_id: str
    sha256: str
    width: int
    height: int
    size: int
    mark: float | None
    gap: float | None
    measure_version: str | None
    verdict: str
    """agrees, disagrees or not measured"""
    proof: Proof
    wrong: Counter[PromptedJudge] = field(default_factory=Counter)

    @property
    def file(self) -> str:
        """Path of the image in the site, if it lies there as it is."""
        return f"images/{self.sha256}.png"


@dataclass(slots=True)
class PicturedScene:
    """One base image, its pictures from the smallest to the largest.

    `shown` has, by prompting, what judges saw in place of the smallest that they were asked about.
    What is drawn by code has no `painter` and no `source`: the width and height in px of a picture
    as its painter or editor made it.
    """

    base_id: str
    original_id: str
    domain: str
    subject: str
    subtopic: str
    variant: str
    modification: str
    image_set: str
    target: str
    seed: int
    generator_version: str
    rasteriser: str
    settings: Mapping[str, Any]
    painter: str
    review: str
    source: tuple[int, int] | None
    pictures: list[ScenePicture]
    targets: list[Target]
    questions: Sequence[SceneQuestion] = ()
    shown: Mapping[str, Sequence[ShownPicture]] = field(default_factory=dict)
    original: "PicturedScene | None" = None
    counterfactuals: list["PicturedScene"] = field(default_factory=list)
    outline: Sequence[OutlineBox] = ()
    """What was changed, as parts of its pictures; empty where that is not known."""

    def format_answers(self, judge: PromptedJudge, index: int) -> str:
        """Format a judge's answers to Q1 and Q2 about the target in the picture at that place.

        With a mark, as in `✗ 32`; empty where it was not asked.
        """
        answers = [
            answer
            for question in self.questions
            if question.question_id in ("Q1", "Q2")
            and question.target == self.target
            and (answer := question.find_answer(judge, index))
        ]
        if not answers:
            return ""
        mark = "✓" if all(answer.right for answer in answers) else "✗"
        return f"{mark} {' / '.join(dict.fromkeys(a.answer or a.outcome for a in answers))}"

    @property
    def page(self) -> str:
        """Path of the scene's page in the site."""
        return f"scenes/{self.base_id}.html"

    @property
    def href(self) -> str:
        """`page` as a link writes it."""
        return quote(self.page)

    @property
    def thumbnails(self) -> list[Thumbnail]:
        """Thumbnails of a photograph, for cards and a page; a drawing is shown as it is."""
        if not self.painted:
            return []
        return [Thumbnail(self._at_least(longer).sha256, longer) for longer in (CARD, PAGE)]

    @property
    def card(self) -> str:
        """Path of the picture for a card."""
        return self.thumbnails[0].file if self.painted else self.pictures[0].file

    @property
    def painted(self) -> bool:
        """True if a model painted it; all its sizes are then one picture, resized."""
        return bool(self.painter)

    def _at_least(self, longer: int) -> ScenePicture:
        """The smallest picture of at least that size, else the largest."""
        large = (picture for picture in self.pictures if picture.size >= longer)
        return next(large, self.pictures[-1])

    @property
    def change(self) -> str:
        """The change in a few words; empty where nothing was changed."""
        return "" if self.modification in ("", "none") else self.modification

    @property
    def name(self) -> str:
        """The subject and its change; several scenes may have the same name."""
        return f"{self.subject}, {self.change or self.variant}"

    @property
    def slug(self) -> str:
        """The scene's id within its topic."""
        return self.base_id.removeprefix(f"{self.domain}/")

    @property
    def counts(self) -> bool:
        """True if its pictures are among the benchmark's images, once their labels are proved."""
        return self.image_set == "benchmark" or bool(
            self.painter and self.variant == "counterfactual"
        )

    @property
    def proof(self) -> Proof:
        """The worst proof of its pictures."""
        return max((picture.proof for picture in self.pictures), key=rank)

    @property
    def prompts(self) -> dict[str, str]:
        """Prompts of a photograph's painter and editor, in their order."""
        names = [name for name in self.settings if name.startswith("painting ")] + ["edit"]
        return {n: self.settings[n] for n in names if self.painter and n in self.settings}

    @property
    def numbers(self) -> dict[str, Any]:
        """The settings that are told nowhere else."""
        mentioned = {"painter", *self.prompts} if self.painter else set()
        return {name: value for name, value in self.settings.items() if name not in mentioned}

    @property
    def main_target(self) -> Target | None:
        """The target that Q1 and Q2 ask about."""
        return next((target for target in self.targets if target.name == self.target), None)

    @property
    def counted(self) -> set[str]:
        """The targets that some Q1 or Q2 asks about."""
        return {
            question.target for question in self.questions if question.question_id in ("Q1", "Q2")
        }

"""Scenes as the gallery shows them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from assets.kit.columns import NamedRow
from assets.report.publish import Thumbnail
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.proofs import Proof, find_proof, rank
from generators.changes import SceneChange
from generators.domains import OutlineBox
from generators.topics import describe_change

CARD, PAGE = 384, 768
"""The longer side in px of a picture on a card and on a page, which show them smaller."""
COUNTING = ("Q1", "Q2")

Answer: TypeAlias = NamedRow
"""A judge's answer, whether it is `right` (None where nothing was scored), and `biased`."""


class Target(NamedTuple):
    """A target that can be read from a scene, with a reading for each of its pictures.

    A reading is a row with what was `measured`, the `verdict` on the label, and a `problem`.
    """

    name: str
    truth: float
    standard: float
    readings: Sequence[NamedRow]


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """A row of the questions; `answers` has, for each prompting and judge, one for each picture."""

    row: NamedRow
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


@dataclass(frozen=True, eq=False)
class ScenePicture:
    """A row of the images with the readings of its labels; `wrong` counts wrong answers by judge.

    A photograph has no readings, and its verdict is "not measured".
    """

    row: NamedRow
    readings: Sequence[NamedRow]
    wrong: Counter[PromptedJudge] = field(default_factory=Counter)

    @cached_property
    def verdict(self) -> str:
        """agrees, disagrees or not measured"""
        verdicts = {reading.verdict for reading in self.readings}
        worst = ("disagrees", "not measured")
        return next((verdict for verdict in worst if verdict in verdicts), "agrees")

    @cached_property
    def proof(self) -> Proof:
        """The proof of its label."""
        confirmed = self.verdict == "agrees"
        return find_proof(self.row.review, is_stand_in=self.row.is_stand_in, confirmed=confirmed)

    @cached_property
    def measured(self) -> NamedRow | None:
        """A reading that the pixels gave, if any did."""
        return next((reading for reading in self.readings if reading.measure_version), None)

    @property
    def file(self) -> str:
        """Path of the image in the site, if it lies there as it is."""
        return f"images/{self.row.sha256}.png"


@dataclass(eq=False)
class PicturedScene:
    """A base image with its pictures, from the smallest to the largest.

    `shown` has, by prompting, what judges saw in place of the smallest that they were asked about.
    """

    pictures: Sequence[ScenePicture]
    targets: Sequence[Target]
    questions: Sequence[SceneQuestion]
    shown: Mapping[str, Sequence[ShownPicture]]
    outline: Sequence[OutlineBox] = ()
    """Outline of the change, in fractions of its pictures; empty if unknown."""
    original: "PicturedScene | None" = None
    counterfactuals: list["PicturedScene"] = field(default_factory=list)

    @property
    def row(self) -> NamedRow:
        """Row with the columns that images of all sizes share: that of the smallest."""
        return self.pictures[0].row

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The settings of its drawing code or painter, by name."""
        settings: Mapping[str, Any] = json.loads(self.row.settings)
        return settings

    def format_answers(self, judge: PromptedJudge, index: int) -> str:
        """Format a judge's answers to Q1 and Q2 about the target in the picture at that place.

        With a mark, as in `✗ 32`; empty where it was not asked.
        """
        answers = [
            answer
            for question in self.questions
            if question.row.question_id in COUNTING
            and question.row.target == self.row.target
            and (answer := question.find_answer(judge, index))
        ]
        if not answers:
            return ""
        mark = "✓" if all(answer.right for answer in answers) else "✗"
        return f"{mark} {' / '.join(dict.fromkeys(a.answer or a.outcome for a in answers))}"

    @property
    def page(self) -> str:
        """Path of the scene's page in the site."""
        return f"scenes/{self.row.base_id}.html"

    @property
    def href(self) -> str:
        """`page` as a link writes it."""
        return quote(self.page)

    @property
    def painted(self) -> bool:
        """True if a model painted it; all its sizes are then one picture, resized."""
        return bool(self.row.painter)

    @property
    def thumbnails(self) -> list[Thumbnail]:
        """Thumbnails of a photograph, for cards and a page; a drawing is shown as it is."""
        longest = self.pictures[-1]
        return [
            Thumbnail(
                next((p for p in self.pictures if p.row.size >= side), longest).row.sha256, side
            )
            for side in (CARD, PAGE)
            if self.painted
        ]

    @property
    def card(self) -> str:
        """Path of the picture for a card."""
        return self.thumbnails[0].file if self.painted else self.pictures[0].file

    @property
    def change(self) -> str:
        """The change in a few words; empty where nothing was changed."""
        if self.row.modification in ("", "none"):
            return ""
        index = list(self.row.targets).index(self.row.target)
        return describe_change(
            self.row.domain,
            SceneChange(
                modification=self.row.modification,
                target=self.row.target,
                difference=self.row.truths[index] - self.row.standards[index],
                settings=self.settings,
            ),
        )

    @property
    def name(self) -> str:
        """The subject and its change; several scenes may have the same name."""
        return f"{self.row.subject}, {self.change or self.row.variant}"

    @property
    def slug(self) -> str:
        """The scene's id within its topic."""
        return str(self.row.base_id).removeprefix(f"{self.row.domain}/")

    @property
    def counts(self) -> bool:
        """True if its pictures are among the benchmark's images, once their labels are proved."""
        is_changed = self.row.variant == "counterfactual"
        return self.row.image_set == "benchmark" or (self.painted and is_changed)

    @property
    def proof(self) -> Proof:
        """The worst proof of its pictures."""
        return max((picture.proof for picture in self.pictures), key=rank)

    @property
    def prompts(self) -> dict[str, str]:
        """Prompts of a photograph's painter and editor, in their order."""
        names = [name for name in self.settings if name.startswith("painting ")] + ["edit"]
        return {n: self.settings[n] for n in names if self.painted and n in self.settings}

    @property
    def numbers(self) -> dict[str, Any]:
        """The settings that are told nowhere else."""
        mentioned = {"painter", *self.prompts} if self.painted else set()
        return {name: value for name, value in self.settings.items() if name not in mentioned}

    @property
    def main_target(self) -> Target | None:
        """The target that Q1 and Q2 ask about."""
        return next((target for target in self.targets if target.name == self.row.target), None)

    @property
    def counted(self) -> set[str]:
        """The targets that some Q1 or Q2 asks about."""
        rows = (question.row for question in self.questions)
        return {row.target for row in rows if row.question_id in COUNTING}

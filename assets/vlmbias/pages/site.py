"""The benchmark as its report's subject: its scenes, and each judge's accuracy on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar, NamedTuple

from assets.report.outcomes import Served
from assets.report.standings import Course
from assets.report.subjects import ReportSubject, firmest
from assets.report.thinking import ThinkingAxis, ThinkingSection
from assets.vlmbias.common import TITLE
from assets.vlmbias.pages.blind_answers import BlindComparison
from assets.vlmbias.pages.differences import CountedAnswers, JudgeDifferences
from assets.vlmbias.pages.figures import LEADING, PARTIAL, Accuracy, AccuracyColumn
from assets.vlmbias.pages.isolation import IsolationComparison
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.outcomes import Outcomes
from assets.vlmbias.pages.readings import Readings
from assets.vlmbias.pages.rerolled import RerollFindings
from assets.vlmbias.pages.scene_gallery import SceneGallery
from assets.vlmbias.pages.thinking import build_thinking
from metrics import BASELINE
from metrics.statistics.firmness import FIRMNESS, Evidence, Firmness


class TaskMean(NamedTuple):
    """The mean of a judge over topics: its table and column there, and the answers behind it."""

    table: Accuracy
    column: AccuracyColumn
    evidence: Evidence


class FindingBasis(NamedTuple):
    """Models with a number of one firmness in a column, and the pictures that it is about."""

    table: Accuracy
    column: AccuracyColumn
    pictures: str
    firmness: Firmness
    models: Sequence[PromptedJudge]


@dataclass(frozen=True, kw_only=True)
class VlmbiasSite(ReportSubject):
    """Everything that the pages show.

    `accuracy` and `outcomes` are of pictures whose labels are proved, `unproved` of all others,
    and `in_part` of answers to a part of a topic's questions, which `partial` names.
    """

    kind: ClassVar[str] = "benchmark"
    gallery_kind: ClassVar[str] = "pictures"
    name: str = TITLE
    scenes: SceneGallery
    accuracy: Accuracy
    in_part: Accuracy
    partial: Mapping[str, Sequence[str]]
    unproved: Accuracy
    by_painter: Accuracy
    outcomes: Outcomes
    readings: Readings
    counted: CountedAnswers
    rerolled: RerollFindings
    blind: BlindComparison
    isolation: IsolationComparison
    axes: Sequence[ThinkingAxis]
    served: Sequence[Served]
    dates: Mapping[str, str]
    courses: Sequence[Course] = ()

    @property
    def page(self) -> str:
        """The front page."""
        return "index.html"

    @property
    def gallery(self) -> str:
        """The page of all scenes."""
        return "gallery.html"

    @cached_property
    def firmness(self) -> Firmness:
        """The firmness of the finding."""
        basis = self.firmest_basis(BASELINE)
        if basis.models:
            return basis.firmness
        if self.judge_evidence:
            return firmest(self.judge_evidence.values())
        return (
            "stand-in" if self.scenes.proofs["stand-in"] == len(self.scenes.pictures) else "not run"
        )

    @property
    def is_stand_in(self) -> bool:
        """True if all its pictures are schematics, and no model has answered."""
        return self.firmness == "stand-in"

    @property
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The answers behind each model's task mean under the baseline."""
        return self.model_evidence(BASELINE)

    def model_evidence(self, prompting: str) -> Mapping[str, Evidence]:
        """The answers behind each model's task mean under one way of asking."""
        means = self.task_means(prompting).items()
        return {judge.model: mean.evidence for judge, mean in means if not judge.is_stand_in}

    def task_means(self, prompting: str) -> dict[PromptedJudge, TaskMean]:
        """Mean of each judge over topics asked in full, else over those asked in part."""
        tables = ((self.accuracy, LEADING), (self.in_part, LEADING._replace(image_set=PARTIAL)))
        means = {}
        for judge in chain.from_iterable(table.line_up(prompting) for table, _ in tables):
            task_means = [
                TaskMean(table, column, table.evidence(judge, column))
                for table, column in tables
                if (judge, column.place) in table.cells
            ]
            numbers = (
                mean for mean in task_means if mean.table.rate(judge, mean.column).value is not None
            )
            if task_means:
                means[judge] = next(numbers, task_means[0])
        return means

    @cached_property
    def thinking(self) -> ThinkingSection:
        """The judges at several steps of thinking."""
        return build_thinking(self)

    def judge_differences(self, prompting: str) -> JudgeDifferences:
        """Differences between the models that have results under one way of asking."""
        rates = {
            judge: self.accuracy.rate(judge, LEADING) for judge in self.accuracy.line_up(prompting)
        }
        return self.counted.compare(
            [
                judge
                for judge, rate in rates.items()
                if rate.firmness == "result" and rate.value is not None
            ]
        )

    def firmest_basis(self, prompting: str) -> FindingBasis:
        """The firmest numbers: on all pictures of the benchmark, or the first topic with any.

        Of results; else of trials, such as a judge that was asked a part of the questions.
        """
        bases = [*self._bases(prompting)]
        with_models = (basis for basis in bases if basis.models)
        return min(with_models, key=lambda basis: FIRMNESS.index(basis.firmness), default=bases[0])

    def _bases(self, prompting: str) -> Iterator[FindingBasis]:
        titles = self.scenes.titles
        for table, image_set in ((self.accuracy, LEADING.image_set), (self.in_part, PARTIAL)):
            leading = LEADING._replace(image_set=image_set)
            columns = {leading: "the benchmark's pictures"}
            for topic in table.topics:
                title = titles[topic]
                column = leading._replace(label=title, topic=topic)
                columns[column] = f"the pictures of {title[:1].lower()}{title[1:]}"
            models = [judge for judge in table.line_up(prompting) if not judge.is_stand_in]
            for column, pictures in columns.items():
                rates = {model: table.rate(model, column) for model in models}
                for firmness in FIRMNESS[:2]:
                    numbers = [
                        model
                        for model, rate in rates.items()
                        if rate.value is not None and rate.firmness == firmness
                    ]
                    yield FindingBasis(table, column, pictures, firmness, numbers)

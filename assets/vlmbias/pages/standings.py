"""Standings of each judge by two rates, and its biased answers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from assets.report.formats import capitalize_first, first_sentence, format_count
from assets.report.standings import Failure, JudgeResults, Measure, Standing, round_robin
from assets.vlmbias.pages import figures
from assets.vlmbias.pages.figures import LEADING, PARTIAL, Accuracy, AccuracyColumn
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.scenes import PicturedScene, SceneQuestion
from assets.vlmbias.pages.site import VlmbiasSite
from metrics import BASELINE
from metrics.statistics.firmness import Evidence, Firmness

MEASURES: Mapping[figures.Measure, Measure] = {
    "accuracy": Measure(
        "Counterfactual accuracy",
        "higher",
        "share",
        "Of questions about pictures that differ from what is usual, the share answered right.",
    ),
    "bias_rate": Measure(
        "Bias rate",
        "lower",
        "share",
        "Of the same questions, the share answered with what is usual.",
    ),
}
_COUNTING = ("Q1", "Q2")
_PROVED = ("pixels", "accepted")


class _Mean(NamedTuple):
    """The task mean of a judge: its table and column there, and the answers behind it."""

    table: Accuracy
    column: AccuracyColumn
    evidence: Evidence


def judged(site: VlmbiasSite, dates: Mapping[str, str]) -> JudgeResults:
    """The task means of every judge under the baseline, and what it got wrong as expected."""
    lined_up = (site.accuracy.line_up(BASELINE), site.in_part.line_up(BASELINE))
    judges = dict.fromkeys(chain(*lined_up))
    means = {judge: mean for judge in judges if (mean := _mean(site, judge)) is not None}
    return JudgeResults(
        list(MEASURES.values()),
        [
            _standing(judge, mean, measure, dates)
            for judge, mean in means.items()
            for measure in MEASURES
        ],
        [
            failure
            for judge, mean in means.items()
            for failure in _failures(site, judge, mean.evidence.firmness)
        ],
    )


def _mean(site: VlmbiasSite, judge: PromptedJudge) -> _Mean | None:
    """The mean over topics asked in full, else over those asked in part; None for no request."""
    tables = ((site.accuracy, LEADING), (site.in_part, LEADING._replace(image_set=PARTIAL)))
    means = [
        _Mean(table, column, table.evidence(judge, column))
        for table, column in tables
        if (judge, column.place) in table.cells
    ]
    valued = (mean for mean in means if mean.table.rate(judge, mean.column).value is not None)
    return next(valued, next(iter(means), None))


def _standing(
    judge: PromptedJudge, mean: _Mean, measure: figures.Measure, dates: Mapping[str, str]
) -> Standing:
    column = mean.column._replace(measure=measure)
    row = mean.table.cells[judge, column.place]
    in_part = column.image_set == PARTIAL
    return Standing.build(
        judge.model,
        MEASURES[measure],
        mean.evidence,
        mean.table.rate(judge, column),
        items=int(row.answers) if mean.evidence.has_number else 0,
        unit=f"answers about {format_count(int(row.base_images))} scenes",
        date=dates.get(judge.model, ""),
        link="index.html#partial" if in_part else "index.html#leaderboard",
        notes=[mean.table.extent],
    )


def _failures(site: VlmbiasSite, judge: PromptedJudge, firmness: Firmness) -> list[Failure]:
    """Answers with what is usual to counting questions about proved counterfactuals.

    One a scene, and the topics in turn.
    """
    by_topic: defaultdict[str, list[Failure]] = defaultdict(list)
    for scene in site.scenes:
        if scene.variant == "counterfactual" and scene.proof in _PROVED:
            failures = (_failure(scene, question, judge, firmness) for question in _counting(scene))
            by_topic[scene.domain] += [failure for failure in failures if failure is not None][:1]
    return round_robin(by_topic.values())


def _counting(scene: PicturedScene) -> Iterator[SceneQuestion]:
    return (question for question in scene.questions if question.question_id in _COUNTING)


def _failure(
    scene: PicturedScene, question_asked: SceneQuestion, judge: PromptedJudge, firmness: Firmness
) -> Failure | None:
    answer = question_asked.find_answer(judge)
    if answer is None or not answer.biased:
        return None
    return Failure(
        judge.model,
        firmness,
        scene.card,
        capitalize_first(scene.name),
        first_sentence(question_asked.text),
        answer.answer or "",
        question_asked.truth,
        scene.href,
    )

"""The finding in one sentence, with the pair of pictures and the chart that show it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from assets.report.charts import PERCENT, Chart
from assets.report.formats import capitalize_first, format_count, format_whole_percent
from assets.report.start_page import no_ranking_sentence, trial_sentence
from assets.vlmbias.pages.figures import LEADING, PARTIAL, Accuracy, AccuracyColumn
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.scenes import Answer, PicturedScene, SceneQuestion
from assets.vlmbias.pages.site import VlmbiasSite
from metrics.statistics.firmness import FIRMNESS, Firmness

_PERCENT = "\u00a0%"


class VlmbiasFinding(NamedTuple):
    """The sentence with its firmness, its chart, and `about` what both are.

    `example` is a changed picture, `said` what `judge` answered to `asked` about it; None where
    nobody was asked about any.
    """

    sentence: str
    firmness: Firmness
    pictures: str
    chart: Chart
    example: PicturedScene | None
    judge: PromptedJudge | None
    question: SceneQuestion | None
    answer: Answer | None


class _Subject(NamedTuple):
    """The models that a finding is about, and where their numbers stand."""

    table: Accuracy
    column: AccuracyColumn
    pictures: str
    models: Sequence[PromptedJudge]


def finding(site: VlmbiasSite, way: str) -> VlmbiasFinding:
    """Find the sentence on all pictures of the benchmark, or on the first topic that models share.

    Of results; else of trials, such as a judge that was asked a part of the questions.
    """
    subjects = [*_subjects(site.accuracy, site, way), *_subjects(site.in_part, site, way)]
    firm = (_narrowed(subject, "result") for subject in subjects)
    trials = (_narrowed(subject, "trial") for subject in subjects)
    named = next(filter(None, chain(firm, trials)), None)
    subject = named or subjects[0]
    sentence, firmness = _told(named) if named else _nothing(site, way)
    references = [judge for judge in site.accuracy.line_up(way) if judge.reference]
    bars = subject.table.bars(subject.column, way)
    if subject.table is site.in_part:
        column = subject.column._replace(image_set=LEADING.image_set)
        bars += [site.accuracy.bar(judge, column) for judge in references]
    description = "accuracy and bias rate of every judge"
    chart = Chart("all", capitalize_first(subject.pictures), description, PERCENT, bars)
    judge = next(iter([*(named.models if named else ()), *references]), None)
    return VlmbiasFinding(
        sentence, firmness, subject.pictures, chart, *_example(site.scenes, judge)
    )


def _subjects(table: Accuracy, site: VlmbiasSite, way: str) -> list[_Subject]:
    """The task mean, then each topic, with all models that have a number there."""
    models = [judge for judge in table.line_up(way) if not judge.reference]
    image_set = PARTIAL if table is site.in_part else LEADING.image_set
    subjects = []
    for topic, pictures in _columns(site.select_titles(table)):
        column = topic._replace(image_set=image_set)
        valued = [model for model in models if table.rate(model, column).value is not None]
        subjects.append(_Subject(table, column, pictures, valued))
    return subjects


def _narrowed(subject: _Subject, firmness: Firmness) -> _Subject | None:
    """The subject with its models of a firmness; None without any."""
    models = [
        model
        for model in subject.models
        if subject.table.rate(model, subject.column).firmness == firmness
    ]
    return subject._replace(models=models) if models else None


def _told(subject: _Subject) -> tuple[str, Firmness]:
    """The finding on a subject's models, which are all results or all trials."""
    table, column, pictures, models = subject
    evidence = {model.model: table.evidence(model, column) for model in models}
    firmness = next(model_evidence.firmness for model_evidence in evidence.values())
    # A task mean counts each topic alike: it is no share of all pictures.
    means = f", as means {table.extent or 'over all topics'}" * (column.topic == LEADING.topic)
    if firmness == "result":
        return f"{_sentence(table, models, column, pictures)}{means}.", firmness
    reasons = {
        model: "; ".join(model_evidence.reasons) for model, model_evidence in evidence.items()
    }
    if len(models) > 1:
        return no_ranking_sentence(pictures, reasons), firmness
    reason, row = reasons[models[0].model], table.cells[models[0], column.place]
    reason = f"{reason}, {format_count(int(row.answers))} answers"
    sentence = _sentence(table, models, column, f"{pictures} that it was asked about")
    return trial_sentence(reason, f"{sentence}{means}."), firmness


def _nothing(site: VlmbiasSite, way: str) -> tuple[str, Firmness]:
    """Say why there is no number of any model."""
    evidence = {
        model.model: table.evidence(model, column)
        for table, column in (
            (site.in_part, LEADING._replace(image_set=PARTIAL)),
            (site.accuracy, LEADING),
        )
        for model in table.line_up(way)
        if not model.reference and (model, column.place) in table.cells
    }
    if evidence:
        reasons = {
            model: "; ".join(model_evidence.reasons) for model, model_evidence in evidence.items()
        }
        firmness = min(
            (model_evidence.firmness for model_evidence in evidence.values()), key=FIRMNESS.index
        )
        return no_ranking_sentence("the benchmark's pictures", reasons), firmness
    is_stand_in = site.proofs["stand-in"] == len(site.pictures)
    return "No model has answered yet.", "stand-in" if is_stand_in else "not run"


def _columns(titles: Mapping[str, str]) -> Iterator[tuple[AccuracyColumn, str]]:
    yield LEADING, "the benchmark's pictures"
    for topic, title in titles.items():
        yield AccuracyColumn(title, topic), f"the pictures of {title[:1].lower()}{title[1:]}"


def _sentence(
    accuracy: Accuracy, models: Sequence[PromptedJudge], column: AccuracyColumn, pictures: str
) -> str:
    right, biased = (
        {model.model: accuracy.rate(model, measure_column).value or 0.0 for model in models}
        for measure_column in (column, column._replace(measure="bias_rate"))
    )
    best = max(right, key=lambda model: right[model])
    if len(models) == 1:
        return (
            f"{best} gives the familiar answer in {format_whole_percent(biased[best])} of "
            f"{pictures} and the right one in {format_whole_percent(right[best])}"
        )
    least, most = (format_whole_percent(choose(biased.values())) for choose in (min, max))
    share = least if least == most else f"{least.removesuffix(_PERCENT)} to {most}"
    return (
        f"{format_count(len(models))} models give the familiar answer in {share} of {pictures}; "
        f"the best, {best}, is right in {format_whole_percent(right[best])}"
    )


def _example(
    scenes: Sequence[PicturedScene], judge: PromptedJudge | None
) -> tuple[PicturedScene | None, PromptedJudge | None, SceneQuestion | None, Answer | None]:
    """The first changed picture of a pair that the judge gives the familiar answer to, if any."""
    pairs = [s for s in scenes if s.variant == "counterfactual" and s.original is not None]
    for scene in pairs:
        for question in scene.questions:
            answer = question.find_answer(judge)
            if answer is not None and answer.biased and question.question_id == "Q1":
                return scene, judge, question, answer
    return next(iter(pairs), None), judge, None, None

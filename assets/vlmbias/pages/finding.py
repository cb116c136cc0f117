"""The finding in one sentence, with the pair of pictures and the chart that show it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from assets.report.charts import PERCENT, Chart
from assets.report.formats import count, titled, whole_percent
from assets.report.start_page import no_ranking_sentence, trial_sentence
from assets.vlmbias.pages.figures import LEADING, PARTIAL, Accuracy, Column
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.scenes import Answer, Asked, Scene
from assets.vlmbias.pages.site import Site
from metrics.statistics.firmness import FIRMNESS, Firmness

_PERCENT = "\u00a0%"


class Finding(NamedTuple):
    """The sentence with its firmness, its chart, and `about` what both are.

    `example` is a changed picture, `said` what `judge` answered to `asked` about it; None where
    nobody was asked about any.
    """

    sentence: str
    firmness: Firmness
    about: str
    chart: Chart
    example: Scene | None
    judge: PromptedJudge | None
    asked: Asked | None
    said: Answer | None


class _Subject(NamedTuple):
    """The models that a finding is about, and where their numbers stand."""

    table: Accuracy
    column: Column
    about: str
    models: Sequence[PromptedJudge]


def finding(site: Site, way: str) -> Finding:
    """What models make of the benchmark's pictures as a whole, or of the first topic they share.

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
    about = "accuracy and bias rate of every judge"
    chart = Chart("all", titled(subject.about), about, PERCENT, bars)
    judge = next(iter([*(named.models if named else ()), *references]), None)
    return Finding(sentence, firmness, subject.about, chart, *_example(site.scenes, judge))


def _subjects(table: Accuracy, site: Site, way: str) -> list[_Subject]:
    """The task mean, then each topic, with all models that have a number there."""
    models = [judge for judge in table.line_up(way) if not judge.reference]
    image_set = PARTIAL if table is site.in_part else LEADING.image_set
    subjects = []
    for topic, about in _columns(site.titles_of(table)):
        column = topic._replace(image_set=image_set)
        valued = [each for each in models if table.rate(each, column).value is not None]
        subjects.append(_Subject(table, column, about, valued))
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
    table, column, about, models = subject
    evidence = {model.model: table.evidence(model, column) for model in models}
    firmness = next(each.firmness for each in evidence.values())
    # A task mean counts each topic alike: it is no share of all pictures.
    means = f", as means {table.extent or 'over all topics'}" * (column.topic == LEADING.topic)
    if firmness == "result":
        return f"{_sentence(table, models, column, about)}{means}.", firmness
    reasons = {model: "; ".join(each.reasons) for model, each in evidence.items()}
    if len(models) > 1:
        return no_ranking_sentence(about, reasons), firmness
    reason, row = reasons[models[0].model], table.cells[models[0], column.where]
    reason = f"{reason}, {count(int(row.answers))} answers"
    sentence = _sentence(table, models, column, f"{about} that it was asked about")
    return trial_sentence(reason, f"{sentence}{means}."), firmness


def _nothing(site: Site, way: str) -> tuple[str, Firmness]:
    """Why there is no number of any model."""
    evidence = {
        model.model: table.evidence(model, column)
        for table, column in (
            (site.in_part, LEADING._replace(image_set=PARTIAL)),
            (site.accuracy, LEADING),
        )
        for model in table.line_up(way)
        if not model.reference and (model, column.where) in table.cells
    }
    if evidence:
        reasons = {model: "; ".join(each.reasons) for model, each in evidence.items()}
        firmness = min((each.firmness for each in evidence.values()), key=FIRMNESS.index)
        return no_ranking_sentence("the benchmark's pictures", reasons), firmness
    is_stand_in = site.proofs["stand-in"] == len(site.pictures)
    return "No model has answered yet.", "stand-in" if is_stand_in else "not run"


def _columns(titles: Mapping[str, str]) -> Iterator[tuple[Column, str]]:
    yield LEADING, "the benchmark's pictures"
    for topic, title in titles.items():
        yield Column(title, topic), f"the pictures of {title[:1].lower()}{title[1:]}"


def _sentence(
    accuracy: Accuracy, models: Sequence[PromptedJudge], column: Column, about: str
) -> str:
    right, biased = (
        {model.model: accuracy.rate(model, each).value or 0.0 for model in models}
        for each in (column, column._replace(measure="bias_rate"))
    )
    best = max(right, key=lambda model: right[model])
    if len(models) == 1:
        return (
            f"{best} gives the familiar answer in {whole_percent(biased[best])} of {about} "
            f"and the right one in {whole_percent(right[best])}"
        )
    least, most = (whole_percent(of(biased.values())) for of in (min, max))
    share = least if least == most else f"{least.removesuffix(_PERCENT)} to {most}"
    return (
        f"{count(len(models))} models give the familiar answer in {share} of {about}; "
        f"the best, {best}, is right in {whole_percent(right[best])}"
    )


def _example(
    scenes: Sequence[Scene], judge: PromptedJudge | None
) -> tuple[Scene | None, PromptedJudge | None, Asked | None, Answer | None]:
    """The first changed picture of a pair that the judge gives the familiar answer to, if any."""
    pairs = [s for s in scenes if s.variant == "counterfactual" and s.original is not None]
    for scene in pairs:
        for asked in scene.asked:
            said = asked.said_by(judge)
            if said is not None and said.biased and asked.question_id == "Q1":
                return scene, judge, asked, said
    return next(iter(pairs), None), judge, None, None

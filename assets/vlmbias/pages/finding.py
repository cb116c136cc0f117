"""The finding in one sentence, with the pair of pictures and the chart that show it."""

from collections.abc import Sequence
from typing import NamedTuple

from assets.report.charts import Chart
from assets.report.formats import capitalize_first, format_count, format_whole_percent
from assets.report.start_page import no_ranking_sentence, trial_sentence
from assets.vlmbias.pages.figures import LEADING, chart_judges
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.scenes import Answer, PicturedScene, SceneQuestion
from assets.vlmbias.pages.site import FindingBasis, VlmbiasSite

NOTHING = "No model has answered yet."
_PERCENT = "\u00a0%"


class VlmbiasFinding(NamedTuple):
    """The sentence with its chart, and the `pictures` that both are about.

    `example` is a changed picture, `answer` what `judge` said to `question` about it; None where
    nobody was asked about any.
    """

    sentence: str
    pictures: str
    chart: Chart
    example: PicturedScene | None
    judge: PromptedJudge | None
    question: SceneQuestion | None
    answer: Answer | None


def find(site: VlmbiasSite, prompting: str) -> VlmbiasFinding:
    """Find the sentence on the firmest numbers under one way of asking."""
    basis = site.firmest_basis(prompting)
    stand_ins = [judge for judge in site.accuracy.line_up(prompting) if judge.is_stand_in]
    bars = basis.table.bars(basis.column, prompting)
    if basis.table is site.in_part:
        column = basis.column._replace(image_set=LEADING.image_set)
        bars += [site.accuracy.bar(judge, column) for judge in stand_ins]
    chart = chart_judges("all", capitalize_first(basis.pictures), bars)
    judge = next(iter([*basis.models, *stand_ins]), None)
    example = _example(site.scenes.scenes, judge)
    return VlmbiasFinding(_tell(site, basis, prompting), basis.pictures, chart, *example)


def _tell(site: VlmbiasSite, basis: FindingBasis, prompting: str) -> str:
    """The finding on the models of its basis; without any, why there is no number."""
    table, column, pictures, firmness, models = basis
    if not models:
        evidence = site.model_evidence(prompting).items()
        reasons = {model: "; ".join(answers.reasons) for model, answers in evidence}
        return no_ranking_sentence("the benchmark's pictures", reasons) if reasons else NOTHING
    # A task mean counts each topic alike: it is no share of all pictures.
    means = f", as means {table.extent or 'over all topics'}" * (column.topic == LEADING.topic)
    if firmness == "result":
        return f"{_compare(basis)}{means}."
    reasons = {m.model: "; ".join(table.evidence(m, column).reasons) for m in models}
    if len(models) > 1:
        return no_ranking_sentence(pictures, reasons)
    answers = format_count(int(table.cells[models[0], column.place].answers))
    sentence = _compare(basis._replace(pictures=f"{pictures} that it was asked about"))
    return trial_sentence(f"{reasons[models[0].model]}, {answers} answers", f"{sentence}{means}.")


def _compare(basis: FindingBasis) -> str:
    right, biased = (
        {model.model: basis.table.rate(model, column).value or 0.0 for model in basis.models}
        for column in (basis.column, basis.column._replace(measure="bias_rate"))
    )
    best = max(right, key=lambda model: right[model])
    if len(basis.models) == 1:
        return (
            f"{best} gives the familiar answer in {format_whole_percent(biased[best])} of "
            f"{basis.pictures} and the right one in {format_whole_percent(right[best])}"
        )
    least, most = (format_whole_percent(choose(biased.values())) for choose in (min, max))
    share = least if least == most else f"{least.removesuffix(_PERCENT)} to {most}"
    return (
        f"{format_count(len(basis.models))} models give the familiar answer in {share} of "
        f"{basis.pictures}; the best, {best}, is right in {format_whole_percent(right[best])}"
    )


def _example(
    scenes: Sequence[PicturedScene], judge: PromptedJudge | None
) -> tuple[PicturedScene | None, PromptedJudge | None, SceneQuestion | None, Answer | None]:
    """The first changed picture of a pair that the judge gives the familiar answer to, if any."""
    pairs = [s for s in scenes if s.row.variant == "counterfactual" and s.original is not None]
    for scene in pairs:
        for question in scene.questions:
            answer = question.find_answer(judge)
            if answer is not None and answer.biased and question.row.question_id == "Q1":
                return scene, judge, question, answer
    return next(iter(pairs), None), judge, None, None

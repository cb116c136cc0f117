"""The finding in one sentence, with the pair of pictures and the chart that show it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assets.report.charts import Chart
from assets.report.formats import count, titled, whole_percent
from assets.vlmbias.pages.figures import LEADING, Accuracy, Column
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.scenes import Answer, Asked, Scene
from assets.vlmbias.pages.site import Site

_PERCENT = "\u00a0%"


class Finding(NamedTuple):
    """The sentence, its chart, and `about` what both are.

    `example` is a changed picture, `said` what `judge` answered to `asked` about it; None where
    nobody was asked about any. `models` is how many models it is about.
    """

    sentence: str
    about: str
    chart: Chart
    models: int
    example: Scene | None
    judge: PromptedJudge | None
    asked: Asked | None
    said: Answer | None


def finding(site: Site, way: str) -> Finding:
    """What models make of the benchmark's pictures as a whole, or of the first topic they share."""
    accuracy, titles = site.accuracy, site.titles_of(site.accuracy)
    judges = accuracy.line_up(way)
    models = [judge for judge in judges if not judge.reference]
    answered = (
        (column, about, found)
        for column, about in _columns(titles)
        if (found := [each for each in models if accuracy.rate(each, column).value is not None])
    )
    column, about, found = next(answered, (*next(_columns(titles)), []))
    sentence = _sentence(accuracy, found, column, about) if found else _NOTHING[bool(site.partial)]
    chart = accuracy.chart("all", titled(about), column, way)
    judge = next(iter([*found, *(each for each in judges if each.reference)]), None)
    return Finding(sentence, about, chart, len(found), *_example(site.scenes, judge))


_NOTHING = {
    False: "No model has answered yet.",
    True: "No model has answered all questions of a topic yet.",
}


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
            f"and the right one in {whole_percent(right[best])}."
        )
    least, most = (whole_percent(of(biased.values())) for of in (min, max))
    share = least if least == most else f"{least.removesuffix(_PERCENT)} to {most}"
    return (
        f"{count(len(models))} models give the familiar answer in {share} of {about}; "
        f"the best, {best}, is right in {whole_percent(right[best])}."
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

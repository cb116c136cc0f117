"""What was found, in one sentence, with the pair of pictures and the figures that show it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assets.report.formats import count, whole_percent
from assets.vlmbias.pages import figures as board
from assets.vlmbias.pages.judges import Judge
from assets.vlmbias.pages.scenes import Answer, Asked, Scene


class Finding(NamedTuple):
    """The sentence, and `about` what its figures and `bars` are: accuracy and bias rate by judge.

    `example` is a changed picture, `said` what `judge` answered to `asked` about it; None where
    nobody was asked about any.
    """

    sentence: str
    about: str
    bars: list[board.Line]
    example: Scene | None
    judge: Judge | None
    asked: Asked | None
    said: Answer | None


def finding(
    accuracy: board.Accuracy,
    titles: Sequence[tuple[str, str]],
    scenes: Sequence[Scene],
    way: str,
    in_part: bool,
) -> Finding:
    """What models make of the benchmark's pictures as a whole, or of the first topic they share.

    `in_part` is whether any was asked a part of a topic's questions.
    """
    judges = accuracy.line_up(way)
    models = [judge for judge in judges if not judge.reference]
    asked_about = (
        (column, about, found)
        for column, about in _columns(titles)
        if (found := [each for each in models if accuracy.rate(each, column).value is not None])
    )
    column, about, found = next(asked_about, (*next(_columns(titles)), []))
    bars = accuracy.print([board.Group("", [column, column._replace(measure="bias_rate")])], way)
    judge = next(iter([*found, *(each for each in judges if each.reference)]), None)
    example, asked, said = _example(scenes, judge)
    sentence = _sentence(accuracy, found, column, about) if found else _NOTHING[in_part]
    lines = [*bars.models, *bars.references]
    return Finding(sentence, about, lines, example, judge, asked, said)


_NOTHING = {
    False: "No model has answered yet.",
    True: "No model has answered all questions of a topic yet.",
}


def _columns(titles: Sequence[tuple[str, str]]) -> Iterator[tuple[board.Column, str]]:
    yield board.LEADING, "the benchmark's pictures"
    for topic, title in titles:
        yield board.Column(title, topic), f"the pictures of {title[:1].lower()}{title[1:]}"


def _sentence(
    accuracy: board.Accuracy, models: Sequence[Judge], column: board.Column, about: str
) -> str:
    biased = _values(accuracy, models, column._replace(measure="bias_rate"))
    right = _values(accuracy, models, column)
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


_PERCENT = "\u00a0%"


def _values(
    accuracy: board.Accuracy, models: Iterable[Judge], column: board.Column
) -> dict[str, float]:
    return {model.model: accuracy.rate(model, column).value or 0.0 for model in models}


def _example(
    scenes: Sequence[Scene], judge: Judge | None
) -> tuple[Scene | None, Asked | None, Answer | None]:
    """The first changed picture of a pair that the judge gives the familiar answer to, if any."""
    pairs = [s for s in scenes if s.variant == "counterfactual" and s.original is not None]
    for scene in pairs:
        for asked in scene.asked:
            said = asked.said_by(judge)
            if said is not None and said.biased and asked.question_id == "Q1":
                return scene, asked, said
    return next(iter(pairs), None), None, None

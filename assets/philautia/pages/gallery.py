"""The captions that their own writers prefer most, each beside a rival's of the same picture."""

from itertools import count

from assets.philautia.examples import PreferenceExample
from assets.philautia.pages.charts import points, scores
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset
from assets.report.exhibits import Exhibit, Gallery
from assets.report.publish import Thumbnail
from assets.report.standings import UNKNOWN

SHOWN = 448
"""The longer side in px of a picture."""
MOST = 3
"""Examples of a judge, each of another picture."""


def gallery(dataset: ComparedDataset) -> Gallery:
    """Collect each judge's examples, the strongest first, and the judge with the strongest."""
    examples: dict[str, dict[str, PreferenceExample]] = {}
    for example in sorted(dataset.examples, key=lambda candidate: -candidate.preference):
        judge_examples = examples.setdefault(example.model, {})
        if len(judge_examples) < MOST:
            judge_examples.setdefault(example.sha256, example)
    numbers = count()
    return Gallery(
        {
            judge: [
                _exhibit(example, next(numbers), is_partial=judge in dataset.partial_judges)
                for example in judge_examples.values()
            ]
            for judge, judge_examples in examples.items()
        }
    )


def _exhibit(example: PreferenceExample, number: int, *, is_partial: bool) -> Exhibit:
    judge, setting, rival = example.model, SETTING_WORDS[example.setting], example.rival
    lines = [(f"{judge}, {setting}", example.caption)]
    question = f"How good, of 100, is its own caption “{example.caption}”, {setting}?"
    answer = f"{points(example.scores[judge])}; on average {points(example.means[judge])}"
    truth = UNKNOWN
    if rival is not None:
        question = (
            f"How good, of 100, are two captions of this picture, {setting}? Its own: "
            f"“{example.caption}” By {rival.model}: “{rival.caption}”"
        )
        judge_scores, rival_scores = (
            [points(caption.scores[name]) for caption in (example, rival)]
            for name in (judge, rival.model)
        )
        answer = f"{judge_scores[0]} for its own, {judge_scores[1]} for that by {rival.model}"
        truth = f"{UNKNOWN}; {rival.model} gives {rival_scores[0]} and {rival_scores[1]}"
        lines = [
            (
                f"{judge}, {setting}: {judge} gives it {judge_scores[0]}, "
                f"{rival.model} {rival_scores[0]}",
                example.caption,
            ),
            (
                f"{rival.model}: {judge} gives it {judge_scores[1]}, "
                f"{rival.model} {rival_scores[1]}",
                rival.caption,
            ),
        ]
    return Exhibit(
        Thumbnail(example.sha256, SHOWN),
        "The picture that is described",
        lines,
        small=example.image_id,
        chart=scores(example, number),
        question=question if is_partial else "",
        answer=answer,
        truth=truth,
    )

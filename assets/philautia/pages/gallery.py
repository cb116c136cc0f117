"""The captions that their own writers prefer most: picture, caption, and what each judge gave."""

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
    judge, setting = example.model, SETTING_WORDS[example.setting]
    others = [
        f"{name} gives it {points(score)}"
        for name, score in example.scores.items()
        if name != judge
    ]
    question = f"How good, of 100, is its own caption “{example.caption}”, {setting}?"
    return Exhibit(
        Thumbnail(example.sha256, SHOWN),
        example.image_id,
        [(f"{judge}, {setting}", example.caption)],
        chart=scores(example, number),
        question=question if is_partial else "",
        answer=f"{points(example.scores[judge])}; on average it gives "
        f"{points(example.means[judge])}",
        truth=f"{UNKNOWN}; {', '.join(others)}",
    )

"""The captions that their own writers prefer most: picture, caption, and what each judge gave."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from assets.philautia.examples import PreferenceExample
from assets.philautia.pages.charts import scores
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset
from assets.report.charts import Chart
from assets.report.publish import Thumbnail

SHOWN = 448
"""The longer side in px of a picture."""
MOST = 3
"""Examples of a judge, each of another picture."""


class CaptionExhibit(NamedTuple):
    """An example as a page shows it."""

    picture: Thumbnail
    example: PreferenceExample
    setting: str
    chart: Chart


def gallery(dataset: ComparedDataset) -> Mapping[str, Sequence[CaptionExhibit]]:
    """Collect each judge's examples, the strongest first."""
    examples: dict[str, dict[str, PreferenceExample]] = {}
    for example in sorted(dataset.examples, key=lambda candidate: -candidate.preference):
        judge_examples = examples.setdefault(example.model, {})
        if len(judge_examples) < MOST:
            judge_examples.setdefault(example.sha256, example)
    numbers = count()
    return {
        model: [_shown(example, next(numbers)) for example in judge_examples.values()]
        for model, judge_examples in examples.items()
    }


def _shown(example: PreferenceExample, number: int) -> CaptionExhibit:
    picture = Thumbnail(example.sha256, SHOWN)
    return CaptionExhibit(picture, example, SETTING_WORDS[example.setting], scores(example, number))


def strongest(galleries: Mapping[str, Sequence[CaptionExhibit]]) -> CaptionExhibit | None:
    """The example with the strongest preference."""
    exhibits = [exhibit for judge_exhibits in galleries.values() for exhibit in judge_exhibits]
    return max(exhibits, key=lambda exhibit: exhibit.example.preference, default=None)


def thumbnails(examples: Mapping[str, Sequence[CaptionExhibit]]) -> Iterator[Thumbnail]:
    """The pictures of all examples."""
    return (exhibit.picture for judge_exhibits in examples.values() for exhibit in judge_exhibits)

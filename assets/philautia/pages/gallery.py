"""The captions that their own writers prefer most: picture, caption, and what each judge gave."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from assets.philautia.examples import PreferenceExample
from assets.philautia.pages.charts import scores
from assets.philautia.pages.dataset_page import SAID, Compared
from assets.report.charts import Chart
from assets.report.publish import Thumbnail

SHOWN = 448
"""The longer side in px of a picture."""
MOST = 3
"""Examples of a judge, each of another picture."""


class Shown(NamedTuple):
    """An example as a page shows it."""

    picture: Thumbnail
    example: PreferenceExample
    said: str
    chart: Chart


def gallery(dataset: Compared) -> Mapping[str, Sequence[Shown]]:
    """By judge: its examples, the strongest first."""
    found: dict[str, dict[str, PreferenceExample]] = {}
    for example in sorted(dataset.examples, key=lambda each: -each.preference):
        held = found.setdefault(example.model, {})
        if len(held) < MOST:
            held.setdefault(example.sha256, example)
    numbers = count()
    return {
        model: [_shown(example, next(numbers)) for example in held.values()]
        for model, held in found.items()
    }


def _shown(example: PreferenceExample, number: int) -> Shown:
    picture = Thumbnail(example.sha256, SHOWN)
    return Shown(picture, example, SAID[example.setting], scores(example, number))


def strongest(galleries: Mapping[str, Sequence[Shown]]) -> Shown | None:
    """The example with the strongest preference."""
    every = [shown for held in galleries.values() for shown in held]
    return max(every, key=lambda each: each.example.preference, default=None)


def thumbnails(examples: Mapping[str, Sequence[Shown]]) -> Iterator[Thumbnail]:
    """The pictures of all examples."""
    return (shown.picture for held in examples.values() for shown in held)

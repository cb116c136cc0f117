"""The captions that their own writers prefer most: picture, caption, and what each judge gave."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assets.philautia.examples import Example
from assets.philautia.pages.charts import scores
from assets.philautia.pages.dataset_page import SAID, Compared
from assets.report.charts import Chart
from assets.report.publish import Thumbnail

SHOWN = 448
"""The longer side in px of a picture."""


class Shown(NamedTuple):
    """An example as a page shows it."""

    picture: Thumbnail
    example: Example
    said: str
    chart: Chart


def gallery(dataset: Compared) -> Mapping[str, Sequence[Shown]]:
    """By judge: its examples, the strongest first."""
    found: dict[str, list[Shown]] = {}
    ordered = sorted(dataset.examples, key=lambda each: -each.preference)
    for number, example in enumerate(ordered):
        shown = Thumbnail(example.sha256, SHOWN)
        each = Shown(shown, example, SAID[example.setting], scores(example, number))
        found.setdefault(example.model, []).append(each)
    return found


def strongest(galleries: Mapping[str, Sequence[Shown]]) -> Shown | None:
    """The example with the strongest preference."""
    every = [shown for held in galleries.values() for shown in held]
    return max(every, key=lambda each: each.example.preference, default=None)


def thumbnails(galleries: Sequence[Mapping[str, Sequence[Shown]]]) -> Iterator[Thumbnail]:
    """The pictures of all examples, each once."""
    every = (shown for of in galleries for held in of.values() for shown in held)
    yield from dict.fromkeys(shown.picture for shown in every)

"""Numbers that a paper printed of its models: shown beside one's own, never ranked with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class PublishedNumber(NamedTuple):
    """A model's number: its value, and the text as the paper prints it."""

    model: str
    value: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Published:
    """A paper's numbers by one measure.

    `source` names the table and the number of items; `differences` tell what differs from the
    numbers that Counterfactory makes. Of a measure that `is_share`, values lie from 0 to 1. `unit`,
    `left_label` and `right_label` are those of a `Measure`.
    """

    sentence: str
    measure: str
    better: str
    source: str
    differences: str
    numbers: Sequence[PublishedNumber]
    is_share: bool = True
    unit: str = ""
    left_label: str = ""
    right_label: str = ""

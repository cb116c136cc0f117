"""Standings: what a site tells of each judge or metric, for the front page and judges' own pages.

A benchmark gives its site `JudgeResults`, which lie in the site as a file: the front page and the
pages of judges are made of these files, so that no benchmark is named there. Its numbers are those
that its own page shows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple, TypeVar

from assets.report.formats import Rate, hide_wide_share
from metrics.statistics.firmness import Evidence, Firmness

_Each = TypeVar("_Each")

FILE = "standings.json"
MOST = 10
"""Failures of a judge that are shown."""


class Measure(NamedTuple):
    """A measure of judges: a column of the front page.

    `written` says what a value is: a share from 0 to 1, as `71.6 %`; a change as a share of what
    was before, as `+27.3 %`; or a difference as a share of a scale, in points of a hundred, as
    `+2.7`.
    """

    name: str
    better: Literal["higher", "lower", "near 0"]
    written: Literal["share", "change", "points"]
    meaning: str
    """Meaning in one sentence, for readers who have not read the paper."""
    unit: str = ""
    """Unit in words, where a value does not name it, as in "points of 100"."""
    left_label: str = ""
    """What the left end of its scale means, where `better` does not tell; likewise
    `right_label`."""
    right_label: str = ""
    is_optional: bool = False
    """Whether a judge without it counts as asked: it is about requests that a user chooses. The
    front page has no column of it where nobody was asked."""

    def shown(self, rate: Rate, evidence: Evidence) -> Rate:
        """The number, if an answer is behind it and its interval says anything."""
        if not evidence.has_number:
            return Rate(None)
        return hide_wide_share(rate) if self.written == "share" else rate


class Standing(NamedTuple):
    """A number of a judge or metric, the same as on the benchmark's own page.

    `firmness` follows from the answers (`metrics.statistics.firmness`). `value`, `low` and `high`
    (the limits of its 95 % interval) are None where there is none, and `note` then says why; else
    what a reader must know to compare it. A benchmark without a number over all of its partitions
    has one standing for each `scope`.
    """

    model: str
    """Name in models.yaml."""
    measure: str
    """The name of a measure of the same site."""
    firmness: Firmness
    value: float | None
    low: float | None
    high: float | None
    items: int
    """Number of `unit` that the figure rests on."""
    unit: str
    """Unit in the plural, as in "pairs"."""
    date: str
    """The day on which what it was made of was last put together, as in "2026-11-20"."""
    link: str
    """Link to the evidence, from the site's folder."""
    scope: str = ""
    """Scope, as in "pairs by flux-dev"; empty for the whole benchmark."""
    note: str = ""

    @classmethod
    def build(
        cls,
        model: str,
        measure: Measure,
        evidence: Evidence,
        rate: Rate,
        *,
        items: int,
        unit: str,
        date: str,
        link: str,
        scope: str = "",
        notes: Iterable[str] = (),
    ) -> "Standing":
        """A number as firm as its evidence, which the note names where it is no result."""
        shown = measure.shown(rate, evidence)
        reasons = () if evidence.is_stand_in and evidence.has_number else evidence.reasons
        return cls(
            model=model,
            measure=measure.name,
            firmness=evidence.firmness,
            value=shown.value,
            low=shown.low,
            high=shown.high,
            items=items,
            unit=unit,
            date=date,
            link=link,
            scope=scope,
            note=", ".join(dict.fromkeys(filter(None, (*reasons, shown.note, *notes)))),
        )

    @property
    def rate(self) -> Rate:
        """The number as tables and charts take it."""
        return Rate(self.value, self.low, self.high, self.note)


UNKNOWN = "not known"
"""The beginning of a truth that nobody knows, before what is known instead."""


class Failure(NamedTuple):
    """A picture, what a judge made of it, and what is true.

    `picture` is one that lies in the site anyway, small if there is a small one, and `alt` what it
    shows; `comparison` and `comparison_alt` are of a picture to compare it with, if any.
    """

    model: str
    firmness: Firmness
    picture: str
    alt: str
    question: str
    answer: str
    truth: str
    link: str
    comparison: str = ""
    comparison_alt: str = ""

    @property
    def is_wrong(self) -> bool:
        """False where nobody knows what is true."""
        return not self.truth.startswith(UNKNOWN)


class MonthRate(NamedTuple):
    """The share of right answers in a month ("2026-11"), with the ends of its 95 % interval.

    It is None where nothing was answered; `note` counts answers, and what has none.
    """

    month: str
    value: float | None
    low: float | None
    high: float | None
    note: str


class Course(NamedTuple):
    """A judge month by month, asked the same each time: the finding first, then further sentences.

    `method` says how it is tested, and in `changed_months` a test has found a change.
    """

    model: str
    title: str
    sentences: Sequence[str]
    method: str
    months: Sequence[MonthRate]
    changed_months: Sequence[str] = ()


class JudgeResults(NamedTuple):
    """A site's results of judges and metrics.

    Of several standings of a judge by one measure, and of its failures, that first which says most:
    the front page shows the first of the firmest ones.
    """

    measures: Sequence[Measure] = ()
    standings: Sequence[Standing] = ()
    failures: Sequence[Failure] = ()
    courses: Sequence[Course] = ()

    @property
    def file(self) -> tuple[str, str]:
        """The file of a site from which the front page is made, as (path, text)."""
        parts = {
            name: [part._asdict() for part in values]
            for name, values in self._asdict().items()
            if values
        }
        return FILE, json.dumps(parts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    def covers(self, model: str) -> bool:
        """True if a model was asked for each measure, neither as a stand-in nor for a trial."""
        results = (
            standing for standing in self.standings if standing.firmness in ("result", "no answer")
        )
        measured = {standing.measure for standing in results if standing.model == model}
        required = {measure.name for measure in self.measures if not measure.is_optional}
        return bool(measured) and measured >= required

    @classmethod
    def read(cls, text: str) -> "JudgeResults":
        """Read what `file` has written."""
        parts: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(text)
        return cls(
            [Measure(**fields) for fields in parts.get("measures", ())],
            [Standing(**fields) for fields in parts.get("standings", ())],
            [Failure(**fields) for fields in parts.get("failures", ())],
            [
                Course(**{**fields, "months": [MonthRate(*month) for month in fields["months"]]})
                for fields in parts.get("courses", ())
            ],
        )


def round_robin(groups: Iterable[Iterable[_Each]], most: int = MOST) -> list[_Each]:
    """The first of each group, then the second of each, and so on: not all of one kind."""
    turns = zip_longest(*groups)
    return [item for item in chain.from_iterable(turns) if item is not None][:most]

"""Openings: what a benchmark's card on the front page and its own report begin with.

The finding in a sentence, a picture that a judge got wrong, one's own numbers, and the paper's. An
opening is made of the files of a site, so that no benchmark is named here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote

from pydantic import TypeAdapter

from assets.report.charts import PERCENT, SCORES, Bar, Chart, Mark, MarkKind, Scale
from assets.report.formats import FIRMNESS_WORDS, Rate, format_count
from assets.report.front_tables import BETTER, WRITTEN
from assets.report.published import Published
from assets.report.standings import Failure, JudgeResults, Measure, Standing
from metrics.statistics.firmness import FIRMNESS, Firmness

ENTRY_FILE = "finding.json"
_MOST = 8
"""Judges that the chart of an opening shows."""
_KINDS: dict[Firmness, MarkKind] = {"result": "accuracy", "trial": "bias", "stand-in": "bias"}
_FRACTIONS = {"share": PERCENT, "score": SCORES}


@dataclass(frozen=True)
class Entry:
    """A benchmark: its question, its finding, how firm that is, and what its paper printed."""

    title: str
    question: str
    finding: str
    firmness: Firmness
    published: Published | None = None
    place: int = 0
    """The place among the benchmarks on the front page."""
    savings: str = ""
    """What rules decided before a model was asked, in a sentence; empty for nothing."""

    @property
    def file(self) -> tuple[str, str]:
        """The file of a site from which the front page is made, as (path, text)."""
        return ENTRY_FILE, _JSON.dump_json(self, indent=1).decode() + "\n"

    @classmethod
    def parse(cls, text: bytes) -> "Entry":
        """Parse what `file` has written."""
        return _JSON.validate_json(text)

    @property
    def is_own(self) -> bool:
        """True if the finding is about one's own models, or about why they have no number."""
        return self.published is None or self.firmness in ("result", "trial", "no answer")


_JSON = TypeAdapter(Entry)


class DotRow(NamedTuple):
    """A standing or a published number as a row of a chart."""

    label: str
    rate: Rate
    text: str
    kind: MarkKind


@dataclass(frozen=True, kw_only=True)
class Opening:
    """An opening of the benchmark whose site lies in `root`, as in "vlmbias/"; "" on that site."""

    entry: Entry
    results: JudgeResults
    root: str = ""

    @classmethod
    def of_site(cls, folder: str, entry: Entry, results: JudgeResults) -> "Opening":
        """The opening on a page beside the site's folder."""
        return cls(entry=entry, results=results, root=f"{quote(folder)}/")

    @property
    def sentence(self) -> str:
        """The finding on one's own models; without one, what the paper printed, and that it is."""
        published = self.entry.published
        if published is None or self.entry.is_own:
            return self.entry.finding
        return f"The paper: {published.sentence}"

    @cached_property
    def failure(self) -> Failure | None:
        """The first failure of the firmest judges."""
        failures = sorted(
            self.results.failures,
            key=lambda failure: (FIRMNESS.index(failure.firmness), not failure.comparison),
        )
        return next(iter(failures), None)

    @cached_property
    def own_chart(self) -> Chart | None:
        """The numbers of one's own judges; where there are none, of the stand-ins."""
        measure, standings = self._find_measure(), self._own_standings
        if measure is None:
            return None
        rows = [
            DotRow(
                standing.model,
                _scale_up(measure, standing.rate),
                WRITTEN[measure.written](standing.rate).text,
                _KINDS[standing.firmness],
            )
            for standing in standings[:_MOST]
        ]
        if not rows:
            return None
        more = len(standings) - len(rows)
        who = "Demo data: stand-ins" if self.is_demo else "Your judges and metrics"
        if not self.is_demo and all(standing.firmness == "trial" for standing in standings):
            who = "Your judges and metrics: trials, not ranked"
        suffix = f", {format_count(more)} more in the table" if more else ""
        fractions = _FRACTIONS.get(measure.written)
        return _draw_dots(
            "own",
            f"{who}{suffix}",
            f"{_name_unit(measure.name, measure.unit)}, {BETTER[measure.better]}; "
            "95\u00a0% intervals",
            rows,
            fractions,
            (measure.left_label, measure.right_label),
        )

    @property
    def basis(self) -> str:
        """What each number of `own_chart` rests on, and why others have none, in words."""
        shown = {standing.model: standing for standing in self._own_standings[:_MOST]}
        numbered = {standing.model for standing in self._own_standings}
        for standing in self._standings:
            if standing.model not in numbered:
                shown.setdefault(standing.model, standing)
        models: dict[str, list[str]] = {}
        for model, standing in shown.items():
            count = f"{format_count(standing.items)} {standing.unit}" if standing.items else ""
            words = ", ".join(filter(None, (count, standing.scope, standing.note)))
            models.setdefault(words, []).append(model)
        parts = (
            f"{', '.join(names)}: {words}" if len(models) > 1 else words
            for words, names in models.items()
        )
        return f"{'. '.join(parts)}." if any(models) else ""

    @cached_property
    def published_chart(self) -> Chart | None:
        """The paper's numbers."""
        published = self.entry.published
        if published is None:
            return None
        has_percents = any("%" in number.text for number in published.numbers)
        rows = [
            DotRow(number.model, Rate(number.value), number.text, "published")
            for number in published.numbers
        ]
        return _draw_dots(
            "published",
            "As published",
            f"{_name_unit(published.measure, published.unit)}, {published.better}",
            rows,
            (PERCENT if has_percents else SCORES) if published.is_share else None,
            (published.left_label, published.right_label),
        )

    @property
    def is_demo(self) -> bool:
        """True where all numbers are stand-ins'."""
        return not any(standing.firmness in ("result", "trial") for standing in self._numbers())

    @property
    def stamp(self) -> str:
        """The firmness of the sentence in words; empty for a result."""
        if not self.entry.is_own:
            return "As published"
        firmness = self.entry.firmness
        return "" if firmness == "result" else FIRMNESS_WORDS[firmness]

    def _find_measure(self) -> Measure | None:
        """The measure that the paper printed, if the site has it, else the first one."""
        measures = {measure.name: measure for measure in self.results.measures}
        published = self.entry.published
        first = next(iter(measures.values()), None)
        return measures.get(published.measure, first) if published else first

    def _numbers(self) -> Iterable[Standing]:
        return (standing for standing in self.results.standings if standing.value is not None)

    @cached_property
    def _standings(self) -> list[Standing]:
        """The standings by the measure that is shown, the firmest first.

        Stand-ins' where there are no others.
        """
        kinds = ("stand-in",) if self.is_demo else ("result", "trial")
        measure = self._find_measure()
        shown = (
            standing
            for standing in self.results.standings
            if measure and standing.measure == measure.name and standing.firmness in kinds
        )
        return sorted(shown, key=lambda standing: FIRMNESS.index(standing.firmness))

    @cached_property
    def _own_standings(self) -> list[Standing]:
        """The firmest number of each model."""
        chosen: dict[str, Standing] = {}
        for standing in self._standings:
            if standing.value is not None:
                chosen.setdefault(standing.model, standing)
        return [*chosen.values()]


def sort_openings(openings: Iterable[Opening]) -> list[Opening]:
    """Those on one's own models first, the firmest before others; then as benchmarks stand."""

    def find_place(opening: Opening) -> tuple[int, int]:
        entry = opening.entry
        is_on_models = entry.is_own and entry.firmness != "stand-in"
        return FIRMNESS.index(entry.firmness) if is_on_models else len(FIRMNESS), entry.place

    return sorted(openings, key=find_place)


def _scale_up(measure: Measure, rate: Rate) -> Rate:
    """A change or a difference in hundredths, as it is written."""
    if measure.written in _FRACTIONS:
        return rate
    value, low, high = (None if end is None else 100 * end for end in rate[:3])
    return Rate(value, low, high)


def _draw_dots(
    id_: str,
    title: str,
    description: str,
    rows: Sequence[DotRow],
    fractions: Sequence[str] | None,
    end_labels: tuple[str, str],
) -> Chart:
    """A chart of a row each, on a scale from 0 to 1 or on one that fits."""
    scale = Scale(0, 1) if fractions else Scale.fit(row.rate for row in rows)
    bars = [
        Bar(row.label, [Mark(row.kind, scale.place_rate(row.rate), row.text)], row.text)
        for row in rows
    ]
    ticks = fractions or scale.ticks(lambda number: f"{number:g}".replace("-", "\u2212"))
    return Chart(id_, title, description, ticks, bars, *end_labels)


def _name_unit(measure: str, unit: str) -> str:
    return f"{measure} in {unit}" if unit else measure

"""Tables 7 and 8 and Figure 4: what fine-tuning changes, in our numbers and in the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.kit.tuning import ARMS, format_rate
from assets.report.cells import (
    Body,
    Cell,
    Group,
    Head,
    Line,
    Table,
    add_change,
    rate_numbers,
    share_cell,
)
from assets.report.charts import PERCENT, SHARE, Bar, Chart, NumberFormat
from assets.report.csv_files import read_csv_rows
from assets.report.formats import NONE as NOTHING
from assets.report.formats import Rate, format_count, read_rate
from assets.report.rows import Rows

PAGE = "mitigation.html"
_SHOWN: Mapping[str | None, str] = {
    None: "",
    "none": "as they were",
    "attacked": "attacked",
    "all": "both",
}
_MEASURES: Mapping[str, str] = {"perception": "MME Perception", "cognition": "MME Cognition"}
_MAX_SCORES = {"perception": 2000.0, "cognition": 800.0}
_PAPERS = ("Before", "Original cases", "Expanded cases")
_LINE = ("measure", "dataset", "picture_set")
_NOT_MADE = Cell("", note="not trained, or not judged")


@dataclass(frozen=True)
class MitigationTable:
    """The rows of `vhexpansion/mitigation`."""

    table: pd.DataFrame

    @cached_property
    def rows(self) -> Rows:
        """The rows, None for what is empty."""
        return Rows(to_plain_records(self.table))

    @property
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any number."""
        return any(row["is_stand_in"] for row in self.rows)

    @cached_property
    def rates(self) -> Mapping[str, Sequence[float]]:
        """Learning rates of the adapters by arm."""
        rates = {arm: self.rows.select(arm=arm).distinct("learning_rate") for arm in ARMS}
        return {arm: sorted(filter(None, rates[arm])) for arm in ARMS}

    def lines(self, measures: Sequence[str]) -> list[Row]:
        """Rows for each measure, dataset and picture set, in the order of measures."""
        first_rows: dict[tuple[Any, ...], Row] = {}
        for row in sorted(self.rows, key=lambda row: row["arm"] != "before"):
            if row["measure"] in measures:
                first_rows.setdefault(tuple(row[name] for name in _LINE), row)
        return sorted(first_rows.values(), key=lambda row: measures.index(row["measure"]))

    def find(self, line: Row, arm: str, rate: float | None = None) -> Row | None:
        """The row of an arm and learning rate on the same as a line; of several with a value."""
        place = {name: line[name] for name in _LINE}
        rows = self.rows.select(**place, arm=arm, learning_rate=rate)
        return min(rows, key=lambda row: row["value"] is None, default=None)

    @property
    def has_mme(self) -> bool:
        """True if MME's questions are the general test."""
        return any(row["measure"] in _MEASURES for row in self.rows)


def symmetric(mitigation: MitigationTable) -> Table:
    """Symmetric accuracy of held-out cases, before and after (Table 7)."""
    return _table(mitigation, ("symmetric",), "Symmetric accuracy of held-out cases", "Dataset")


def general(mitigation: MitigationTable) -> Table:
    """MME's scores, or accuracy on general questions that were held out (Table 8)."""
    return _table(mitigation, (*_MEASURES, "general"), "General questions", "Test")


def sweeps(mitigation: MitigationTable) -> list[Chart]:
    """The same numbers by learning rate, of the expanded arm and then of the other (Figure 4)."""
    return [
        _chart(mitigation, arm, row)
        for arm in reversed(ARMS)
        for row in mitigation.lines(("symmetric", *_MEASURES, "general"))
        if row["picture_set"] in (None, "all") and len(mitigation.rates[arm]) > 1
    ]


def paper(number: str) -> Table:
    """Table 7 or 8 as printed, without intervals."""
    lines = [
        Line(
            _MEASURES.get(row["measure"], row["measure"]),
            [
                Cell(row[name], numbers={"": float(row[name])})
                if row["measure"] in _MEASURES
                else share_cell(Rate(float(row[name])))
                for name in ("before", *ARMS)
            ],
        )
        for row in read_csv_rows(Path(__file__).with_name("paper_mitigation.csv"), table=number)
    ]
    return Table.plain(f"The paper’s Table {number}", "Dataset", _PAPERS, lines)


def _table(
    mitigation: MitigationTable, measures: Sequence[str], caption: str, corner: str
) -> Table:
    groups = [Group("Before", [Head("")])]
    groups += [
        Group(f"{arm.title()} cases", [Head(format_rate(rate)) for rate in rates])
        for arm, rates in mitigation.rates.items()
        if rates
    ]
    lines = [
        Line(
            _MEASURES.get(line["measure"], line["dataset"]),
            [
                _cell(mitigation.find(line, "before")),
                *(
                    _cell(mitigation.find(line, arm, rate))
                    for arm in ARMS
                    for rate in mitigation.rates[arm]
                ),
            ],
            small=_SHOWN[line["picture_set"]],
        )
        for line in mitigation.lines(measures)
    ]
    return Table(caption, corner, groups, [Body("", lines)])


def _cell(row: Row | None) -> Cell:
    if row is None:
        return _NOT_MADE
    if row["value"] is None:
        return Cell(NOTHING, note=row["reason"] or "not judged")
    rate, lacking = Rate(row["value"], row["low"], row["high"]), row["unanswered"]
    note = f"{format_count(lacking)} unanswered" if lacking else ""
    if row["measure"] in _MEASURES:
        interval_text = f"[{rate.low:.0f},\u00a0{rate.high:.0f}]"
        return Cell(f"{rate.value:.1f}", interval_text, note, rate_numbers(rate))
    return add_change(share_cell(rate)._replace(note=note), read_rate(row, "change"))


def _chart(mitigation: MitigationTable, arm: str, line: Row) -> Chart:
    most = _MAX_SCORES.get(line["measure"], 1.0)
    rows = {"before": mitigation.find(line, "before")}
    rows |= {format_rate(rate): mitigation.find(line, arm, rate) for rate in mitigation.rates[arm]}
    name = _MEASURES.get(line["measure"], f"{line['dataset']}, {line['measure']}")
    description = "MME’s score" if most > 1 else "share answered right"
    ticks = PERCENT if most == 1 else [f"{most * part / 4:g}" for part in range(5)]
    slug = f"sweep-{arm}-{line['measure']}-{line['dataset']}"
    bars = [_bar(label, row, most) for label, row in rows.items()]
    return Chart(slug, f"{name}: {arm} cases, by learning rate", description, ticks, bars)


def _bar(label: str, row: Row | None, most: float) -> Bar:
    if row is None or row["value"] is None:
        return Bar.build(label, {"": ("failure", Rate(None))}, note="no number")
    rate = Rate(*(row[name] / most for name in ("value", "low", "high")))
    score = NumberFormat(lambda value: f"{row['value']:.1f}", lambda rate: "")
    return Bar.build(label, {"": ("failure", rate)}, SHARE if most == 1 else score)

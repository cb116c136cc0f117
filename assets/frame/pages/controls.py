"""What biases do beyond shams, which nobody sees, and beyond a second request."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assets.frame.pages.source_page import SHORT, ScoredSource
from assets.frame.search import HELD_OUT
from assets.kit.step_run import Row
from assets.report.cells import Cell, Table, change_cell, number_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import (
    Rate,
    format_change,
    format_percent,
    format_signed,
    format_signed_interval,
    hide_wide_share,
    read_rate,
)
from metrics.protobias.ranking import ALL

TITLES: Mapping[str, str] = {
    "jpeg": "JPEG at 95",
    "grey_level": "One grey level",
    "second_request": "Asked again",
}
"""The controls as tables head their columns."""
NAMES: Mapping[str, str] = {
    "jpeg": "JPEG at 95",
    "grey_level": "one grey level",
    "second_request": "a second request",
}
"""The controls as they stand in sentences."""


class _ControlledBias(NamedTuple):
    """A bias, or all of them, on a judge's scores, by control."""

    source: ScoredSource
    judge: str
    bias: str
    rows: Mapping[str, Row]

    @property
    def strictest(self) -> Row:
        """The numbers above the control whose interval reaches lowest."""
        row = self.source.strictest(self.judge, self.bias)
        assert row is not None
        return row


class _Control(NamedTuple):
    """A control of a judge, and its numbers over all biases."""

    source: ScoredSource
    judge: str
    control: str
    row: Row


def changes(source: ScoredSource) -> Table:
    """Changes by each bias and under each control, and what is left above the strictest one."""
    columns: list[TableColumn[_ControlledBias]] = [
        TableColumn("Change", lambda bias: change_cell(Rate(_percent(bias.strictest)))),
        *(_control_column(control) for control in TITLES if source.has_control(control)),
        TableColumn("Left", _left_cell, ranked=True),
    ]
    caption = f"Net inflation, over all domains, {source.describe_choice(HELD_OUT)}"
    return tabulate(caption, "Bias", _BIAS_HEAD, columns, _bodies(source))


def risen_shares(source: ScoredSource) -> Table:
    """Shares of pictures whose score rises, with the bias and under the strictest control."""
    caption = f"Pictures whose score rises, {source.describe_choice(HELD_OUT)}"
    return tabulate(caption, "Bias", _BIAS_HEAD, _RISEN, _bodies(source))


def success(sources: Sequence[ScoredSource]) -> Table:
    """Attack success rates beside those under each control."""
    bodies = {
        source.title: [
            _Control(source, judge, control, row)
            for judge in source.judges
            for control, row in source.controlled(judge, ALL).items()
        ]
        for source in sources
    }
    head = RowHead[_Control](
        label=lambda control: control.judge,
        evidence=lambda control: control.source.evidence(control.judge, control.source.biases),
    )
    return tabulate("Attack success above controls", "Judge", head, _SUCCESS, bodies)


def floor_sentence(source: ScoredSource, judge: str) -> str:
    """How far a judge's scores move by themselves; empty for a judge without controls."""
    bias = next((bias for bias in source.biases if source.controlled(judge, bias)), None)
    if bias is None:
        return ""
    rows = source.controlled(judge, bias)
    if not any(row["changed"] for row in rows.values()):
        names = _join([NAMES[control] for control in rows])
        return (
            f"{judge} gives every picture the same score under {names}: its floor is 0, and "
            "nothing is taken from its inflation."
        )
    shares = [
        f"{format_percent(row['changed'])} of pictures under {NAMES[control]}"
        for control, row in rows.items()
    ]
    return (
        f"Nothing that a person sees changes, and {judge} gives another score to {_join(shares)}."
    )


def net_sentence(source: ScoredSource, judge: str) -> str:
    """What an overlay's change leaves above the strictest control; empty without controls."""
    overlay = source.overlay(judge)
    row = source.strictest(judge, overlay["bias"]) if overlay else None
    if row is None:
        return ""
    net = read_rate(row, "net_percent")
    return (
        f"Above {NAMES[row['control']]}, of the controls the strictest: "
        f"{format_change(row['net_percent'])} {format_signed_interval(net)}."
    )


def _join(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _bodies(source: ScoredSource) -> dict[str, list[_ControlledBias]]:
    return {
        judge: [
            _ControlledBias(source, judge, bias, rows)
            for bias in source.biases
            if (rows := source.controlled(judge, bias))
        ]
        for judge in source.judges
    }


def _percent(row: Row) -> float:
    return float(row["percent"]) / 100


def _control_column(control: str) -> TableColumn[_ControlledBias]:
    def cell(bias: _ControlledBias) -> Cell:
        row = bias.rows.get(control)
        if row is None:
            return Cell("", note="not asked")
        return change_cell(read_rate(row, "control_percent", 100))

    return TableColumn(TITLES[control], cell, group="Under")


def _left_cell(bias: _ControlledBias) -> Cell:
    row = bias.strictest
    unscored = f"{int(row['unscored'])} unscored" if row["unscored"] else ""
    note = ", ".join(filter(None, (f"above {NAMES[row['control']]}", unscored)))
    return change_cell(read_rate(row, "net_percent", 100)._replace(note=note))


def _net_risen_cell(bias: _ControlledBias) -> Cell:
    row = bias.strictest
    least, most = (format_signed(100 * row[f"net_risen_{end}"]) for end in ("least", "most"))
    note = f"with missing scores {least} to {most}" if row["unscored"] else ""
    return points_cell(read_rate(row, "net_risen")._replace(note=note))


_BIAS_HEAD = RowHead[_ControlledBias](
    label=lambda bias: SHORT[bias.bias],
    evidence=lambda bias: bias.source.net_evidence(bias.judge, bias.bias),
)
_RISEN: Sequence[TableColumn[_ControlledBias]] = (
    TableColumn("With the bias", lambda bias: share_cell(Rate(bias.strictest["risen"]))),
    TableColumn(
        "Under the control",
        lambda bias: share_cell(
            Rate(bias.strictest["control_risen"], note=TITLES[bias.strictest["control"]])
        ),
    ),
    TableColumn("Points left", _net_risen_cell, ranked=True),
)


def _success_cell(control: _Control, column: str) -> Cell:
    """A success rate, or the points left of it; hidden where pictures are too few to tell it."""
    rate = hide_wide_share(control.source.success_rate(control.judge))
    if rate.value is None:
        return share_cell(rate)
    if column == "net_rate":
        return points_cell(read_rate(control.row, column))
    return share_cell(Rate(control.row[column]))


_SUCCESS: Sequence[TableColumn[_Control]] = (
    TableColumn("Control", lambda control: Cell(TITLES[control.control])),
    TableColumn("Success rate", lambda control: _success_cell(control, "rate")),
    TableColumn("Under the control", lambda control: _success_cell(control, "control_rate")),
    TableColumn("Points left", lambda control: _success_cell(control, "net_rate"), ranked=True),
    TableColumn(
        "Clearly above it",
        lambda control: share_cell(Rate(control.row["net_clear_share"])),
        ranked=True,
    ),
    TableColumn("Domains × biases", lambda control: number_cell(int(control.row["combinations"]))),
)

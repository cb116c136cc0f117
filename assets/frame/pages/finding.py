"""The finding: one sentence of all judges, and one for each on the effect of an overlay."""

from collections.abc import Mapping, Sequence
from typing import Any

from assets.frame.pages.source_page import Sourced, firmest_first
from assets.report.formats import ends_with_sign, rate_of, score, with_sign
from assets.report.start_page import Finding, State

_SAID = {
    "instruction": "Writing the instruction onto a picture",
    "keyword": "Writing its keyword onto a picture",
    "authenticity": "Writing “Reference Image” onto a picture",
}


def finding(sources: Sequence[Sourced]) -> Finding[Sourced]:
    """Of the newest source of results, else of the newest trial, else of a stand-in run."""
    of = firmest_first(sources)[0]
    if of.stand_in:
        told = "A stand-in run: judges and pictures are stand-ins, and no figure is a result."
        return Finding(told, "stand-in run", of)
    state: State = "trial" if of.trial else "results"
    rows = {judge: row for judge in of.judges if (row := of.overlay(judge))}
    if not rows:
        return Finding(f"No overlay was tried on {of.name}.", "no results yet", of)
    most = max(rows, key=lambda judge: float(rows[judge]["percent"]))
    clear = sum(row["percent_low"] > 0 for row in rows.values())
    give = "The only judge gives" if len(rows) == 1 else f"{clear} of {len(rows)} judges give"
    told = (
        f"{give} a picture of {of.name} clearly more once words are written "
        f"onto it; {most} gives {change(rows[most])} more."
        if clear
        else f"No judge of {of.name} gives a picture clearly more once words are written onto it."
    )
    return Finding(told if state == "results" else f"A trial on few pictures: {told}", state, of)


def sentence(source: Sourced, judge: str) -> str:
    """How much of a judge's score an overlay can buy, held out, with its interval.

    It stands alone: of few pictures it says that it is a trial.
    """
    row = source.overlay(judge)
    if row is None:
        return f"{judge}: no overlay was scored before and after."
    more = float(row["biased"]) - float(row["original"])
    said = _SAID[row["bias"]]
    what = f"A trial: {said[0].lower()}{said[1:]}" if source.trial else said
    points = f"{score(abs(more))} of 5 points"
    told = f"loses {points} with {judge}" if more < 0 else f"buys {points} from {judge}"
    means = f"from {score(row['original'])} to {score(row['biased'])}"
    return f"{what} {told}, {means}: {change(row)} {ends_with_sign(rate_of(row, 'percent'))}."


def change(row: Mapping[str, Any]) -> str:
    """`+12.5 %`."""
    return f"{with_sign(row['percent'])}\u00a0%"

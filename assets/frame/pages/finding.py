"""The finding: one sentence on all judges, and one for each on the effect of an overlay."""

from collections.abc import Mapping, Sequence
from typing import Any

from assets.frame.pages.source_page import Sourced, firmest_first
from assets.report.formats import ends_with_sign, rate_of, score, with_sign
from assets.report.start_page import Finding, trial_sentence, unranked_sentence

_SAID = {
    "instruction": "Writing the instruction onto a picture",
    "keyword": "Writing its keyword onto a picture",
    "authenticity": "Writing “Reference Image” onto a picture",
}


def finding(sources: Sequence[Sourced]) -> Finding[Sourced]:
    """The finding on the newest source of results, else on a trial or a stand-in run."""
    source = firmest_first(sources)[0]
    if source.firmness == "stand-in":
        text = "A stand-in run: judges and pictures are stand-ins, and no figure is a result."
    elif source.firmness == "result":
        text = _results(source)
    else:
        text = _trials(source)
    return Finding(text, source.firmness, source)


def _results(source: Sourced) -> str:
    """How many of the ranked judges an overlay moves clearly, and which of these it moves most."""
    firm = [j for j in source.judges if source.overlay_evidence(j).firmness == "result"]
    rows = {judge: row for judge in firm if (row := source.overlay(judge))}
    clear_rows = {judge: row for judge, row in rows.items() if row["percent_low"] > 0}
    total, picture = len(rows), f"a picture of {source.name}"
    if not clear_rows:
        subject = f"None of {total} judges is" if total > 1 else f"{next(iter(rows))} is not"
        return f"{subject} seen to give {picture} more once words are written onto it."
    judge = max(clear_rows, key=lambda judge: float(clear_rows[judge]["percent"]))
    clause = f"{picture} clearly more once words are written onto it"
    if total == 1:
        return f"{judge} gives {clause}: {change(clear_rows[judge])}."
    verb = "gives" if len(clear_rows) == 1 else "give"
    return (
        f"{len(clear_rows)} of {total} judges {verb} {clause}; "
        f"{judge} gives {change(clear_rows[judge])} more."
    )


def _trials(source: Sourced) -> str:
    """The number of the only judge, or each judge's reasons; several are not ranked."""
    if len(source.judges) == 1 and source.overlay(source.judges[0]):
        return sentence(source, source.judges[0])
    reasons = {judge: "; ".join(source.overlay_evidence(judge).reasons) for judge in source.judges}
    return unranked_sentence(source.name, reasons)


def sentence(source: Sourced, judge: str) -> str:
    """How much of a judge's score an overlay can buy, held out, with its interval.

    It stands alone: of a trial it says why it is one.
    """
    row, evidence = source.overlay(judge), source.overlay_evidence(judge)
    if row is None:
        return f"{judge}: {'; '.join(evidence.reasons)}."
    more = float(row["biased"]) - float(row["original"])
    points = f"{score(abs(more))} of 5 points"
    told = f"loses {points} with {judge}" if more < 0 else f"buys {points} from {judge}"
    means = f"from {score(row['original'])} to {score(row['biased'])}"
    interval = ends_with_sign(rate_of(row, "percent"))
    said = f"{_SAID[row['bias']]} {told}, {means}: {change(row)} {interval}."
    if evidence.firmness != "trial":
        return said
    return trial_sentence("; ".join(evidence.reasons), f"{said[0].lower()}{said[1:]}")


def change(row: Mapping[str, Any]) -> str:
    """`+12.5 %`."""
    return f"{with_sign(row['percent'])}\u00a0%"

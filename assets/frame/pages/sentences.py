"""Sentences on what an overlay buys: one on all judges, and one on each."""

from collections.abc import Mapping
from typing import Any

from assets.frame.pages.source_page import ScoredSource
from assets.report.formats import format_score, format_signed, format_signed_interval, read_rate
from assets.report.start_page import no_ranking_sentence, trial_sentence

_OVERLAYS = {
    "instruction": "Writing the instruction onto a picture",
    "keyword": "Writing its keyword onto a picture",
    "authenticity": "Writing “Reference Image” onto a picture",
}


def source_sentence(source: ScoredSource) -> str:
    """The finding: results, else the number of the only judge, else each judge's reasons."""
    if source.firmness == "result":
        return _results(source)
    if len(source.judges) == 1 and source.overlay(source.judges[0]):
        return judge_sentence(source, source.judges[0])
    return no_ranking_sentence(source.name, source.reasons)


def _results(source: ScoredSource) -> str:
    """Count the ranked judges that an overlay moves clearly, and name the one it moves most."""
    ranked = [
        judge for judge, evidence in source.judge_evidence.items() if evidence.firmness == "result"
    ]
    rows = {judge: row for judge in ranked if (row := source.overlay(judge))}
    clear_rows = {judge: row for judge, row in rows.items() if row["percent_low"] > 0}
    total, picture = len(rows), f"a picture of {source.name}"
    if not clear_rows:
        subject = f"None of {total} judges is" if total > 1 else f"{next(iter(rows))} is not"
        return f"{subject} seen to give {picture} more once words are written onto it."
    judge = max(clear_rows, key=lambda judge: float(clear_rows[judge]["percent"]))
    clause = f"{picture} clearly more once words are written onto it"
    if total == 1:
        return f"{judge} gives {clause}: {format_change(clear_rows[judge])}."
    verb = "gives" if len(clear_rows) == 1 else "give"
    return (
        f"{len(clear_rows)} of {total} judges {verb} {clause}; "
        f"{judge} gives {format_change(clear_rows[judge])} more."
    )


def judge_sentence(source: ScoredSource, judge: str) -> str:
    """The points of a judge's score that an overlay buys, held out, with their interval.

    It stands alone: of a trial it says why it is one.
    """
    row, evidence = source.overlay(judge), source.overlay_evidence(judge)
    if row is None:
        return f"{judge}: {'; '.join(evidence.reasons)}."
    more = float(row["biased"]) - float(row["original"])
    points = f"{format_score(abs(more))} of 5 points"
    effect = f"loses {points} with {judge}" if more < 0 else f"buys {points} from {judge}"
    means = f"from {format_score(row['original'])} to {format_score(row['biased'])}"
    interval = format_signed_interval(read_rate(row, "percent"))
    sentence = f"{_OVERLAYS[row['bias']]} {effect}, {means}: {format_change(row)} {interval}."
    if evidence.firmness != "trial":
        return sentence
    return trial_sentence("; ".join(evidence.reasons), f"{sentence[0].lower()}{sentence[1:]}")


def format_change(row: Mapping[str, Any]) -> str:
    """`+12.5 %`."""
    return f"{format_signed(row['percent'])}\u00a0%"

"""Which domains and biases move judges most, over all judges of a source (Section 5.2)."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from assets.frame.inflation import join_best_configurations
from assets.frame.pages.source_page import SHORT, Sourced
from assets.frame.search import HELD_OUT
from assets.report.cells import Line, Table, change, mark_trial, number, share
from assets.report.formats import Rate, titled
from metrics import measure_susceptibility
from metrics.frame.inflation import AttackSuccess
from metrics.statistics.firmness import Evidence

_HEADS = ("Mean change", "Success rate", "Clear")


def tables(source: Sourced) -> Iterator[Table]:
    """By domain, over judges × biases; by bias, over judges × domains; the most moved first."""
    scores = _scores(source)
    judges = scores["model"].nunique() if len(scores) else 0
    over = "one judge" if judges == 1 else f"{judges} judges"
    evidence = _evidence(source)
    for by, others, names in (("domain", "biases", {}), ("bias", "domains", SHORT)):
        successes = measure_susceptibility(scores, by) if len(scores) else {}
        lines = [
            _line(names.get(value, titled(value)), success, evidence)
            for value, success in sorted(successes.items(), key=lambda item: -item[1].mean)
        ]
        caption = f"Susceptibility by {by}, over {over}, {source.describe_choice(HELD_OUT)}"
        yield Table.plain(caption, titled(by), (f"Judges × {others}", *_HEADS), lines)


def _scores(source: Sourced) -> pd.DataFrame:
    """What each judge gives before and after each bias, held out."""
    scores, search = source.scores, source.search
    parts = [
        join_best_configurations(
            scores[scores["model"].eq(judge)], search[search["model"].eq(judge)], HELD_OUT
        ).assign(model=judge)
        for judge in source.judges
    ]
    return pd.concat(parts)


def _evidence(source: Sourced) -> Evidence:
    """The scores of all judges together."""
    parts = [source.evidence(judge, source.biases) for judge in source.judges]
    return replace(
        parts[0],
        requests=sum(part.requests for part in parts),
        answers=sum(part.answers for part in parts),
        units=min(part.units for part in parts),
        part=next(filter(None, (part.part for part in parts)), ""),
    )


def _line(label: str, success: AttackSuccess, evidence: Evidence) -> Line:
    low, high = success.mean_interval
    mean = Rate(success.mean / 100, low / 100, high / 100)
    return Line(
        label,
        [
            number(success.combinations),
            *(
                mark_trial(cell, evidence.firmness)
                for cell in (
                    change(mean),
                    share(Rate(success.rate, *success.rate_interval)),
                    share(Rate(success.clear)),
                )
            ),
        ],
        "" if evidence.is_stand_in else ", ".join(evidence.reasons),
    )

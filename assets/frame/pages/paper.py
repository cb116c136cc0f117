"""The paper's own numbers, for orientation: pictures by DALL-E 3, its judges, no intervals.

`paper.csv` holds its Tables 3, 4 and 12 as printed; Tables 5 and 6, of GPT-4.1-mini, stand here.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from assets.frame.pages.sentences import format_change
from assets.frame.pages.source_page import SHORT
from assets.kit.columns import records
from assets.report.cells import Body, Cell, Line, Table, mean
from assets.report.formats import NONE as NOTHING
from assets.report.formats import Rate, score, titled
from generators.prompts.visual_concepts import DOMAINS
from metrics.inflation import success_of

_BEAUTY = "beauty"
_TEMPLATES = ("Standard", "Bias-aware", "Bias-def.", "CoT")
_MITIGATION: Mapping[str, Sequence[tuple[float, float | None]]] = {
    "Orig.": ((1.36, None), (1.27, None), (1.33, None), (1.72, None)),
    "brightness": ((1.44, 5.9), (1.35, 6.2), (1.34, 0.8), (1.82, 5.7)),
    "gamma": ((1.45, 6.2), (1.36, 6.5), (1.36, 2.5), (1.80, 4.6)),
    "authenticity": ((1.39, 2.3), (1.30, 2.3), (1.29, -2.6), (1.79, 3.7)),
    "keyword": ((1.45, 6.6), (1.35, 6.2), (1.35, 1.7), (1.82, 5.6)),
    "instruction": ((1.44, 5.8), (1.34, 5.3), (1.34, 1.4), (1.83, 6.0)),
    "padding": ((1.50, 10.4), (1.40, 10.1), (1.40, 5.6), (1.85, 7.4)),
    "boxes": ((1.35, -1.0), (1.29, 1.4), (1.27, -4.1), (1.79, 4.1)),
}
"""Table 5: the mean over all domains but outdoor, and its change in percent, by template."""
_COMBINED: Mapping[str, Sequence[tuple[float, float | None]]] = {
    "people": ((1.55, None), (1.68, 8.4), (1.71, 10.3), (1.73, 11.6)),
    "animals": ((1.02, None), (1.16, 14.0), (1.17, 14.2), (1.15, 12.8)),
    "illustration": ((1.51, None), (1.57, 4.3), (1.58, 4.7), (1.54, 2.0)),
    "indoor": ((1.38, None), (1.61, 17.1), (1.69, 22.9), (1.70, 23.3)),
    "outdoor": ((2.71, None), (2.79, 3.2), (2.82, 4.4), (2.80, 3.4)),
}
"""Table 6."""


@cache
def printed() -> pd.DataFrame:
    """Tables 3, 4 and 12: `model`, `domain`, `bias`, `original`, `biased`, `percent`."""
    return pd.read_csv(Path(__file__).with_name("paper.csv"))


def inflation() -> Table:
    """Mean scores before and after each bias (Tables 3 and 12)."""
    biases = [bias for bias in SHORT if bias != _BEAUTY]
    bodies = [
        Body(str(model), [_line(domain, held, biases) for domain in DOMAINS])
        for model, held in printed().groupby("model", sort=False)
    ]
    heads = ["Orig.", *(SHORT[bias] for bias in biases)]
    return Table.of_bodies("The paper’s Tables 3 and 12", "Domain", heads, bodies)


def _line(domain: str, judged: pd.DataFrame, biases: Sequence[str]) -> Line:
    of = judged[judged["domain"].eq(domain)].set_index("bias")
    cells = [_cell(of["original"].iloc[0])]
    for bias in biases:
        told = bias in of.index
        cells.append(_cell(*of.loc[bias, ["biased", "percent"]]) if told else Cell(NOTHING))
    return Line(titled(domain), cells)


def beauty() -> Table:
    """The beauty filter on people (Table 4)."""
    held = printed()[printed()["bias"].eq(_BEAUTY)]
    lines = [
        Line(row["model"], [_cell(row["original"]), _cell(row["biased"], row["percent"])])
        for row in records(held)
    ]
    return Table.plain("The paper’s Table 4", "Judge", ["Orig.", "Beauty"], lines)


def success() -> Table:
    """Attack success rates and mean rises (Figure 2), from the printed percentages."""
    lines = []
    for model, held in printed().groupby("model", sort=False):
        rate, rise = map(float, success_of(held["percent"].to_numpy()))
        cells = [
            Cell(f"{100 * rate:.2f}\u00a0%", numbers={"": rate}),
            Cell(format_change({"percent": rise}), numbers={"": rise}),
        ]
        lines.append(Line(str(model), cells))
    caption = "Attack success by the paper’s Tables 3, 4 and 12"
    return Table.plain(caption, "Judge", ["Success rate", "Mean rise"], lines)


def mitigation() -> Table:
    """Mean scores of GPT-4.1-mini by template (Table 5)."""
    lines = [
        Line(SHORT.get(bias, bias), [_cell(*each) for each in row])
        for bias, row in _MITIGATION.items()
    ]
    return Table.plain("The paper’s Table 5: GPT-4.1-mini", "Bias", _TEMPLATES, lines)


def combined() -> Table:
    """The best bias, pair and triple of GPT-4.1-mini (Table 6)."""
    heads = ("Orig.", "Best bias", "Best pair", "Best triple")
    lines = [
        Line(titled(domain), [_cell(*each) for each in row]) for domain, row in _COMBINED.items()
    ]
    return Table.plain("The paper’s Table 6: GPT-4.1-mini", "Domain", heads, lines)


def _cell(before: float, percent: float | None = None) -> Cell:
    if percent is None:
        return mean(Rate(before))
    told = {"": before, "percent": percent}
    return Cell(score(before), format_change({"percent": percent}), numbers=told)

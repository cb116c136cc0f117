"""The paper's own numbers, for orientation: other pictures, other models, no intervals.

Tables 1 and 2 as printed, and the overall failure rates that §5.1 gives in its text; of VQAScore
and GPT-4o it says no more than that they fail in over 45 % of cases.
"""

from assets.protobias.pages.figures import TITLES
from assets.report.cells import Body, Cell, Group, Head, Line, Table
from assets.report.formats import score

KEPT = {"animals": 8_360 / 10_000, "demography": 5_814 / 12_000, "objects": 5_293 / 9_375}
"""Share of its pairs that the paper's filter kept, by domain (§4): of all 62.05 %."""
_FAILURES = {
    "CLIPScore": "71.62\u00a0%",
    "PickScore": "70.20\u00a0%",
    "VQAScore": "over 45\u00a0%",
    "GPT-4o": "over 45\u00a0%",
    "GPT-5": "24.07\u00a0%",
    "ProtoScore": "31.60\u00a0%",
    "Human": "0\u00a0%",
}
_MARGINS = {
    "CLIPScore": (0.187, 0.151, 0.196, 0.252, 0.127, 0.096),
    "PickScore": (0.211, 0.186, 0.181, 0.155, 0.217, 0.090),
    "VQAScore": (0.142, 0.069, 0.225, 0.152, 0.124, 0.018),
    "GPT-4o": (0.618, 0.515, 0.565, 0.417, 0.272, 0.167),
    "GPT-5": (0.667, 0.420, 0.653, 0.000, 0.048, 0.000),
    "ProtoScore": (0.361, 0.358, 0.346, 0.062, 0.057, 0.038),
}
_SCORES = {
    "CLIPScore": (0.63, 0.74, -0.10, 0.56, 0.69, -0.13, 0.60, 0.51, 0.08),
    "PickScore": (0.55, 0.57, -0.02, 0.36, 0.24, 0.11, 0.35, 0.29, 0.07),
    "VQAScore": (0.87, 0.79, 0.08, 0.39, 0.50, -0.11, 0.93, 0.75, 0.19),
    "GPT-4o": (0.60, 0.60, 0.00, 0.53, 0.50, 0.03, 0.50, 0.22, 0.28),
    "GPT-5": (0.73, 0.26, 0.47, 0.56, 0.25, 0.31, 1.00, 0.33, 0.67),
    "ProtoScore": (0.83, 0.52, 0.32, 0.75, 0.57, 0.18, 0.89, 0.54, 0.35),
    "Human": (0.89, 0.24, 0.65, 0.50, 0.17, 0.33, 0.84, 0.40, 0.44),
}


def failures() -> Table:
    """The share of pairs that fail, over all domains (§5.1)."""
    lines = [Line(name, [Cell(written)]) for name, written in _FAILURES.items()]
    return _table("The paper's failure rates", [Group("", [Head("All domains")])], lines)


def margins() -> Table:
    """How far apart scores are where the ranking is right, and where it is wrong (Table 1)."""
    heads = [Head(title) for title in TITLES.values()]
    groups = [Group(f"{kind} ranking margin", heads) for kind in ("Correct", "Incorrect")]
    lines = [
        Line(name, [Cell(f"{value:.3f}") for value in values]) for name, values in _MARGINS.items()
    ]
    return _table("The paper's Table 1", groups, lines)


def scores() -> Table:
    """Mean scores of both sides and their difference, on what people scored (Table 2)."""
    heads = [Head("SC"), Head("PA"), Head("Δ")]
    groups = [Group(title, heads) for title in TITLES.values()]
    lines = [Line(name, [Cell(score(each)) for each in values]) for name, values in _SCORES.items()]
    return _table("The paper's Table 2", groups, lines)


def _table(caption: str, groups: list[Group], lines: list[Line]) -> Table:
    return Table(caption, "Metric", groups, [Body("", lines)])

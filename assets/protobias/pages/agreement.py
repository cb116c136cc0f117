"""How people agree with each other: pairwise quadratic weighted kappa (Figure 4)."""

from assets.protobias.pages.painter import Painted
from assets.report.cells import Cell, Line, Table, mean, number
from assets.report.formats import NONE, Rate
from metrics.agreement import Agreement, pairwise_agreement


def agreement(painted: Painted) -> Table:
    """One line a pair of annotators."""
    found = pairwise_agreement(painted.human, seed=0) if len(painted.human) else []
    lines = [
        Line(f"{each.first} and {each.second}", [number(each.images), _kappa(each)])
        for each in found
    ]
    caption = f"{painted.name}: agreement of people"
    return Table.plain(caption, "Annotators", ("Pictures both scored", "Kappa"), lines)


def _kappa(each: Agreement) -> Cell:
    if each.kappa is None:
        return Cell(NONE, note=each.why)
    return mean(Rate(each.kappa, *(each.interval or (None, None))))

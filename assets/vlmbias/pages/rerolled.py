"""Judges on new pictures beside the set's: who does worse on what it cannot have seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assets.kit.step_run import Row
from assets.report.cells import Cell, Table, number_cell, points_cell, share_cell
from assets.report.columns import RowHead, TableColumn, tabulate
from assets.report.formats import Rate, format_p, format_points
from assets.vlmbias.reroll import REROLL


@dataclass(frozen=True, slots=True)
class RerollFindings:
    """The row of each judge over all topics of `vlmbias/rerolled_accuracy`."""

    rows: Sequence[Row]

    @property
    def sentences(self) -> list[str]:
        """The findings."""
        return [row["finding"] for row in self.rows]

    @property
    def scope(self) -> str:
        """Which topics take part, and the seeds."""
        seed, released_seed = self.rows[0]["seed"], self.rows[0]["released_seed"]
        return f"Seed {released_seed} drew the set, seed {seed} the new pictures. {REROLL.scope}"

    def note(self, judge: str) -> str:
        """What a reader of a judge's accuracy must know: it is lower on new pictures."""
        points = (
            format_points(_read_difference(row))
            for row in self.rows
            if row["model"] == judge and row["verdict"] == "worse"
        )
        return next((f"{text} points on new pictures: may know the set" for text in points), "")

    @property
    def table(self) -> Table:
        """Both accuracies and their difference; what missing answers allow for beside it."""

        def share(name: str) -> Callable[[Row], Cell]:
            return lambda row: share_cell(Rate(row[name]))

        def difference(row: Row) -> Cell:
            cell = points_cell(_read_difference(row))
            return cell if row["p_holm"] is None else cell._replace(note=format_p(row["p_holm"]))

        def bounds(row: Row) -> Cell:
            return points_cell(Rate(row["difference"], row["least"], row["most"]))

        columns = [
            TableColumn("The set's pictures", share("released"), detail="accuracy"),
            TableColumn("New pictures", share("fresh"), detail="accuracy"),
            TableColumn("Difference", difference, detail="points, p corrected"),
            TableColumn("With missing answers", bounds, detail="at least, at most"),
            TableColumn("Pairs of questions", lambda row: number_cell(row["questions"])),
        ]
        head = RowHead[Row](label=lambda row: row["model"], small=lambda row: row["verdict"])
        return tabulate("Judges on new pictures", "Judge", head, columns, {"": self.rows})


def _read_difference(row: Row) -> Rate:
    return Rate(row["difference"], row["low"], row["high"])

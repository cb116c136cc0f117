"""Panels: several people review the same things, each in a file of a folder.

A sheet lies in the folder; each annotator saves a filled copy beside it, such as anna.csv.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from upath import UPath

from assets.kit.review import review_sheet, write_sheet
from assets.kit.review_forms import ACCEPT, REJECT
from assets.kit.verdicts import PANEL_SHEET, Panel
from metrics.statistics.weighted_kappa import AnnotatorAgreement, pairwise_agreement
from resources.storage.data_root import DataRoot


@dataclass(frozen=True)
class Votes:
    """Annotators who accepted an item, and those who rejected it."""

    accepted_by: list[str]
    rejected_by: list[str]

    @property
    def is_rejected(self) -> bool:
        """True if at least half of the annotators who decided reject the item."""
        return bool(self.rejected_by) and len(self.rejected_by) >= len(self.accepted_by)


def panel_folder(home: DataRoot, name: str) -> UPath:
    """Return the folder of a panel's files."""
    return home.path("reviews", name)


def panel_sheet(folder: UPath) -> UPath:
    """The sheet that each annotator copies."""
    return review_sheet(folder / f"{PANEL_SHEET}.csv")


def write_panel_sheet(
    folder: UPath, things: Sequence[tuple[str, Mapping[str, Any]]], subject_column: str
) -> None:
    """Write the sheet, without anybody's verdicts: each thing's name, and its further cells.

    A sheet that somebody has filled in itself is put aside, and stays.
    """
    write_sheet(folder / f"{PANEL_SHEET}.csv", things, {}, subject_column)


def count_votes(panel: Panel, name: str) -> Votes:
    """Collect the annotators' votes on one item."""
    decisions = {
        annotator: verdicts[name].decision
        for annotator, verdicts in panel.items()
        if name in verdicts
    }
    return Votes(
        [annotator for annotator, word in decisions.items() if word == ACCEPT],
        [annotator for annotator, word in decisions.items() if word == REJECT],
    )


def compute_agreement(
    votes: Mapping[tuple[str, str], Votes], seed: int = 0
) -> list[AnnotatorAgreement]:
    """Compute the annotators' pairwise agreement as Cohen's kappa; empty for fewer than two.

    `votes` are keyed by item and by its cluster for resampling: the item's picture.
    """
    rows = [
        {"image_id": name, "concept_id": cluster, "annotator": annotator, "score": float(score)}
        for (name, cluster), cast in votes.items()
        for score, names in ((1, cast.accepted_by), (0, cast.rejected_by))
        for annotator in names
    ]
    columns = ["image_id", "concept_id", "annotator", "score"]
    return pairwise_agreement(pd.DataFrame(rows, columns=columns), seed=seed)

"""Reviews of negations: a sheet of pairs for several people, and what they left out."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pandas as pd
from upath import UPath

from assets.kit.panel import (
    Panel,
    Votes,
    compute_agreement,
    count_votes,
    panel_folder,
    read_panel,
    write_panel_sheet,
)
from assets.kit.previews import markdown_table
from assets.kit.step_run import Row
from assets.vhexpansion.common import GROUP
from resources.storage.data_root import DataRoot
from resources.user_files.rows import UserFileError

REVIEWED_PAIRS = 100
"""Number of a dataset's pairs that people review (§5.2)."""
_PAIR = "pair"


def review_folder(home: DataRoot, dataset: str, writer: str) -> UPath:
    """Return the folder where people review the pairs of a dataset and writer."""
    return panel_folder(home, f"{GROUP}/{dataset}/{writer}")


def format_pair_name(row: Row) -> str:
    """The name of a pair in a sheet: with other words it is another pair."""
    digest = sha256(f"{row['question']}\0{row['negated_question']}".encode()).hexdigest()
    return f"{row['case_id']}#{digest[:8]}"


def sample_pairs(rows: Iterable[Row], seed: int) -> list[Row]:
    """The pairs that people are to review: by lot, and as long as they stay the same ones."""
    negated_rows = [row for row in rows if row["negated_question"]]
    ordered_rows = sorted(
        negated_rows, key=lambda row: sha256(f"{seed}/{row['case_id']}".encode()).digest()
    )
    return ordered_rows[:REVIEWED_PAIRS]


def apply_review(rows: Sequence[dict[str, Any]], folder: UPath) -> list[dict[str, Any]]:
    """The rows with who accepted and who rejected each; what people reject is left out.

    Raises `UserFileError` for a verdict on a pair that has other words now.
    """
    panel = read_panel(folder, _PAIR)
    pairs = {format_pair_name(row): row["case_id"] for row in rows if row["negated_question"]}
    _require_known(panel, pairs, {row["case_id"] for row in rows}, folder)
    return [_add_votes(row, panel) for row in rows]


def write_pairs(rows: Sequence[Row], folder: UPath, seed: int) -> None:
    """Write the sheet that each annotator copies."""
    things = [
        (
            format_pair_name(row),
            {
                name: row[name]
                for name in ("question", "answer", "negated_question", "negated_answer", "image_id")
            },
        )
        for row in sample_pairs([row for row in rows if row["outcome"] in _REVIEWED], seed)
    ]
    write_panel_sheet(folder, things, _PAIR)


_REVIEWED = ("negated", "left out")


def count_case_votes(rows: Iterable[Row]) -> Mapping[tuple[str, str], Votes]:
    """Map each case and picture with votes to the people who accepted or rejected its negation."""
    return {
        (row["case_id"], row["image_id"]): Votes(row["accepted_by"], row["rejected_by"])
        for row in rows
        if row["accepted_by"] or row["rejected_by"]
    }


def review_metadata(rows: Sequence[Row]) -> dict[str, Any]:
    """Metadata of a review: how many pairs, how many were left out, and how people agree."""
    votes = count_case_votes(rows)
    if not votes:
        return {"annotators": "No negation has been reviewed yet."}
    unanimous = sum(
        not (case_votes.accepted_by and case_votes.rejected_by) for case_votes in votes.values()
    )
    agreement_rows = [
        (
            agreement.first,
            agreement.second,
            agreement.images,
            agreement.reason or f"{agreement.kappa:.3f}",
        )
        for agreement in compute_agreement(votes)
    ]
    return {
        "reviewed": len(votes),
        "accepted_by_all": sum(not case_votes.rejected_by for case_votes in votes.values()),
        "unanimous": unanimous,
        "left_out": sum(case_votes.is_rejected for case_votes in votes.values()),
        "agreement": markdown_table(
            pd.DataFrame(agreement_rows, columns=["first", "second", "pairs", "kappa"])
        ),
    }


def _add_votes(row: dict[str, Any], panel: Panel) -> dict[str, Any]:
    votes = count_votes(panel, format_pair_name(row)) if row["negated_question"] else Votes([], [])
    vote_columns = {"accepted_by": votes.accepted_by, "rejected_by": votes.rejected_by}
    if row["outcome"] != "negated" or not votes.is_rejected:
        return {**row, **vote_columns}
    reasons = (panel[annotator][format_pair_name(row)].reason for annotator in votes.rejected_by)
    reason = "; ".join(filter(None, reasons)) or "People found that it is not the negation."
    return {**row, **vote_columns, "outcome": "left out", "reason": reason}


def _require_known(
    panel: Panel, pairs: Mapping[str, str], cases: Iterable[str], folder: UPath
) -> None:
    case_ids = set(cases)
    for annotator, verdicts in panel.items():
        for name, verdict in verdicts.items():
            case = name.rpartition("#")[0]
            if name not in pairs and case in case_ids:
                raise UserFileError(
                    f"{folder / annotator}.csv, {verdict.place}: the pair of {case} has other "
                    "words now. Have it reviewed again, or move the file out of this folder."
                )

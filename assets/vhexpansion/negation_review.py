"""Reviews of negations: a sheet of pairs for several people, and what they left out."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import pandas as pd
from upath import UPath

from assets.kit.panel import (
    Votes,
    compute_agreement,
    count_votes,
    panel_folder,
    write_panel_sheet,
)
from assets.kit.previews import markdown_table
from assets.kit.review_forms import ACCEPT, REJECT, ReviewForm, ReviewItem, write_part
from assets.kit.step_run import Row
from assets.kit.verdicts import Panel, read_panel
from assets.vhexpansion.common import GROUP
from metrics.statistics.people_estimates import estimate_people
from resources.storage.data_root import DataRoot
from resources.user_files.rows import UserFileError

REVIEWED_PAIRS = 100
"""Number of a dataset's pairs that people review (§5.2)."""
_PAIR = "pair"
FORM = ReviewForm(
    asset="vhexpansion/negated_cases",
    task="Accept a pair if the second question is the negation of the first.",
    choices={
        ACCEPT: "it asks the opposite, and the other answer is right",
        REJECT: "it does not, or it has two readings",
    },
    guidelines="A pair is left out if at least half of its annotators reject it.",
    reasons=("asks the same", "asks something else", "two readings", "bad English"),
    next_step="Materialize vhexpansion/negated_cases again, which sends nothing.",
    subject_column=_PAIR,
)
"""How people review negations."""


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


def write_pairs(rows: Sequence[Row], home: DataRoot, dataset: str, writer: str, seed: int) -> None:
    """Write the sheet that each annotator copies, and what the review page shows."""
    sample = sample_pairs([row for row in rows if row["outcome"] in _REVIEWED], seed)
    items = [
        ReviewItem(
            name=format_pair_name(row),
            cells={cell: row[cell] for cell in _CELLS},
            lines=[
                (f"The question, whose answer is {row['answer']}", row["question"]),
                (f"Its negation, to be answered {row['negated_answer']}", row["negated_question"]),
            ],
            pictures=[(row["sha256"], "")] if row["sha256"] else [],
        )
        for row in sample
    ]
    folder = review_folder(home, dataset, writer)
    write_panel_sheet(folder, [(item.name, item.cells) for item in items], _PAIR)
    name = f"{dataset}/{writer}"
    write_part(home, FORM, name, title=name, answers=folder, items=items)


_CELLS = ("question", "answer", "negated_question", "negated_answer", "image_id")
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


def estimate_rejections(negated_cases: pd.DataFrame) -> pd.DataFrame:
    """Estimate the share of all negations that people would reject, from those they reviewed.

    `negated_cases` has `case_id`, `question`, `outcome`, `accepted_by` and `rejected_by`. Cases
    with one question have one negation, and are a cluster (`estimate_people`).
    """
    cases = negated_cases[negated_cases["outcome"].isin(_REVIEWED)]
    votes = [
        Votes([*accepted_by], [*rejected_by])
        for accepted_by, rejected_by in zip(cases["accepted_by"], cases["rejected_by"], strict=True)
    ]
    labels = [
        float(case_votes.is_rejected) if case_votes.accepted_by or case_votes.rejected_by else None
        for case_votes in votes
    ]
    items = cases.rename(columns={"case_id": "item", "question": "cluster"})
    return estimate_people(items.assign(stratum="", label=pd.Series(labels, cases.index, float)))


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

"""Functions of the tasks `counterfactory_vlmbias_*` for lmms-eval."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
from counterfactory_scorer import mean_of_answered, score_row


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """The picture of a row."""
    return [doc["image"].convert("RGB")]


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None) -> str:
    """The text of a row as it is: a prefix or suffix would be another question."""
    return str(doc["prompt"])


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score a reply, and log the row's id and picture: lmms-eval logs its position alone."""
    return {**score_row(results[0], doc), "row": {"id": doc["id"], "sha256": doc["sha256"]}}


def average(scores: Sequence[float]) -> float:
    """Average the scores of Q1 and Q2 about the benchmark's pictures, without refusals."""
    return mean_of_answered(scores)


def count_rows(rows: Sequence[Any]) -> int:
    """Count the rows."""
    return len(rows)

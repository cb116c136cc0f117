"""Answers about pictures as they were beside the blind answers of the same judges."""

from collections.abc import Iterable

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.report.blind_shares import BlindLine
from assets.vhexpansion.common import asset_key
from assets.vhexpansion.yes_no_step import NONE
from metrics import blind_answer_table
from metrics.vhexpansion.symmetry import ORIGINAL
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot


def load_blind_lines(
    home: DataRoot, dataset: str, answers: Iterable[tuple[Model, pd.DataFrame]]
) -> list[BlindLine]:
    """Load a line for each judge with counted answers; none where no judge was asked blind."""
    lines = [_load_line(home, dataset, judge, table) for judge, table in answers]
    return lines if any(line.row is not None for line in lines) else []


def _load_line(home: DataRoot, dataset: str, judge: Model, answers: pd.DataFrame) -> BlindLine:
    columns = ["case_id", "question", "answer"]
    blind = home.find(asset_key(f"blind_answers_{judge.name}"), dataset, columns)
    if blind is None:
        return BlindLine(judge.name, None, is_stand_in=judge.is_stand_in)
    original_answers = answers[answers["form"].eq(ORIGINAL) & answers["perturbation"].eq(NONE)]
    pairs = original_answers.merge(
        blind.rename(columns={"answer": "blind_answer"}), on=["case_id", "question"], validate="m:1"
    )
    is_right = pairs["answer"].eq(pairs["truth"]).astype(float)
    pairs = pairs.assign(
        domain=dataset,
        ground_truth=pairs["truth"],
        # Of a yes/no question, the blind answer and the expected one are the same where both err.
        expected_bias=None,
        score=is_right.where(pairs["answer"].notna()),
    )
    rows = to_plain_records(blind_answer_table(pairs))
    return BlindLine(
        judge.name,
        rows[0] if rows else None,
        part="asked in part" if len(pairs) < len(original_answers) else "",
        is_stand_in=judge.is_stand_in,
    )

"""VHExpansion on leaderboards of others: symmetric accuracy, a task for each dataset."""

from collections.abc import Iterator

import pandas as pd

from assets.kit.columns import to_plain_records
from assets.kit.leaderboards import Leaderboard, ScoredSample
from assets.vhexpansion.counted_answers import load_counted_answers
from assets.vhexpansion.pages.report import SYMMETRIC, format_scope
from assets.vhexpansion.yes_no_step import FORMS, NONE
from generators.prompts.yes_no import write_yes_no_prompt
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_PAIR = ["case_id", "repeat"]
_COLUMNS = [
    *(*_PAIR, "dataset", "sha256", "form", "question", "perturbation", "truth"),
    *("response", "answer", "correct", "entry_version"),
]


def _load_samples(home: DataRoot, judge: Model, scope: str) -> Iterator[ScoredSample]:
    """Yield a sample for each case and repeat in which both forms have an answer."""
    counted = load_counted_answers(home, judge, scope.removeprefix(format_scope("")), _COLUMNS)
    answers = pd.DataFrame(columns=_COLUMNS) if counted is None else counted.answers
    answers = answers[answers["perturbation"].eq(NONE) & answers["answer"].notna()]
    for _, pair in answers.groupby(_PAIR, sort=True):
        forms = {row["form"]: row for row in to_plain_records(pair)}
        if len(forms) < len(FORMS):
            continue
        rows = [forms[form] for form in FORMS]
        first, *_ = rows
        yield ScoredSample(
            sample_id=first["case_id"],
            partition=first["dataset"],
            picture_sha256=first["sha256"],
            prompts=[write_yes_no_prompt(row["question"]) for row in rows],
            references=[row["truth"] for row in rows],
            replies=[row["response"] for row in rows],
            answers=[row["answer"] for row in rows],
            score=float(all(row["correct"] for row in rows)),
            metadata={"repeat": first["repeat"], "entry_version": first["entry_version"]},
        )


LEADERBOARD = Leaderboard(
    measure=SYMMETRIC.name,
    config="pope",
    split="test",
    list_tasks=lambda partitions: {
        f"symmetric_accuracy_{name}": format_scope(name) for name in partitions
    },
    load_samples=_load_samples,
)

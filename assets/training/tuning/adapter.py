"""Adapters of a judge, by arm and learning rate: fine-tuned on cases for one epoch."""

from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MarkdownMetadataValue, MaterializeResult

from assets.kit.columns import materialized
from assets.kit.partitions import parts_of
from assets.kit.table_asset import Mismatch
from assets.kit.tuning import (
    ADAPTERS,
    BY_ARM,
    TRAINED_ON,
    TRAINING_CASES,
    data_of,
    marks_of,
    training_cases_key,
)
from assets.training.fitting import POOL, Fitted, entry_lines, entry_of, fitted
from assets.training.tuning.arms import overlaps
from assets.training.tuning.common import DECLARED, table_asset
from resources.home import Home
from resources.images import ImageStore
from resources.training.publish import CARD, write_card
from resources.training.recipe import TuningRecipe

_GIVEN = ("case_id", "question", "answer", "sha256")
_NAMED = 5
_DEFAULT: float = TuningRecipe.model_fields["learning_rate"].default
UNTRIED = (
    "Questions other than those of its datasets, and other languages.",
    "Merged into its base, and other devices than the one it was trained on.",
    "More than one training: how much another seed changes is unknown.",
)


@table_asset(
    columns=ADAPTERS,
    partitions=BY_ARM,
    ins={"training_cases": AssetIn(training_cases_key(DECLARED.group))},
    pool=POOL,
    kinds=("huggingface",),
    description="A judge with an adapter, fine-tuned on an arm at a learning rate: LoRA by TRL, "
    "the loss on the answer alone, one epoch, in a process of its own; goes on where it was if it "
    "was killed. Its entry for models.yaml stands in the metadata (§5.4).",
)
def adapter(
    context: AssetExecutionContext,
    config: TuningRecipe,
    home: Home,
    images: ImageStore,
    training_cases: pd.DataFrame,
) -> MaterializeResult[pa.Table]:
    """Train and publish it. Raises `Mismatch` and `TrainingError`."""
    parts = parts_of(context.partition_key, BY_ARM)
    arm, rate = parts["arm"], float(parts["learning_rate"])
    rows = TRAINING_CASES.rows(training_cases, training_cases_key(DECLARED.group))
    _require_no_overlap(rows)
    recipe = config.model_copy(update={"learning_rate": _rate(config.learning_rate, rate)})
    of_arm = [row for row in rows if row["arm"] == arm]
    given = [{name: row[name] for name in _GIVEN} for row in of_arm]
    each = recipe.at_once * recipe.accumulate
    name = f"{DECLARED.group}_{arm}_{parts['learning_rate'].replace('.', '_').replace('-', 'm')}"
    found = fitted(
        name,
        "tuning",
        recipe,
        pa.Table.from_pylist(given),
        [row["sha256"] for row in given],
        each * recipe.steps if recipe.steps else len(given),
        home,
        images,
        context.log,
        arm=arm,
        datasets=sorted({row["dataset"] for row in of_arm}),
        rehearsal=any(row["rehearsal"] for row in of_arm),
        **{TRAINED_ON: sorted(marks_of(of_arm))},
    )
    told: dict[str, Any] = {"max_new_tokens": 64}
    lines = entry_lines(entry_of(name, "judge", recipe, found.adapter, **told))
    before = entry_lines(entry_of(f"{DECLARED.group}_before", "judge", recipe, **told))
    if not (found.place / CARD).exists():
        _write_first_card(found, arm, rate, lines)
    row = {
        "arm": arm,
        "learning_rate": rate,
        "adapter": found.adapter,
        "base": recipe.base,
        "revision": found.record["base"]["revision"],
        "data": data_of(rows),
        "rows": found.shown["rows"],
        "steps": found.shown["steps"],
        "rehearsal": bool(found.record["rehearsal"]),
    }
    entries = MarkdownMetadataValue(f"```yaml\n{before}{lines}```")
    shown = {**found.shown, "models_yaml": entries, "rehearsal": row["rehearsal"]}
    return materialized(ADAPTERS.table([row]), **shown)


def _rate(configured: float, rate: float) -> float:
    """The rate of the partition. Raises `Mismatch` where the config has yet another."""
    if configured not in (_DEFAULT, rate):
        raise Mismatch(
            f"adapter: the config has the learning rate {configured:g}, and the partition "
            f"{rate:g}. Leave it out of the config, and choose the partition. Nothing was begun."
        )
    return rate


def _require_no_overlap(rows: list[dict[str, Any]]) -> None:
    """Raise `Mismatch` where something is trained on that is held out."""
    wrong = overlaps(rows)
    if wrong:
        some = "; ".join(
            f"{case} ({shared} of {other})" for _, case, shared, other in wrong[:_NAMED]
        )
        raise Mismatch(
            f"{len(wrong):,} rows of training_cases share a picture with cases that are held out: "
            f"{some}. Materialize training_cases again. Nothing was begun."
        )


def _write_first_card(found: Fitted, arm: str, rate: float, lines: str) -> None:
    write_card(
        found.place,
        f"Answers yes/no questions about pictures, fine-tuned on the {arm} arm of VHExpansion "
        f"(§5.4) at a learning rate of {rate:g}. These are not the weights of the paper's authors.",
        [{"dataset": "all", "symmetric accuracy": "not judged yet"}],
        lines,
        UNTRIED,
    )

"""Adapters of a judge, by arm and learning rate: fine-tuned on cases for one epoch."""

from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MarkdownMetadataValue, MaterializeResult

from assets.kit.columns import to_materialize_result
from assets.kit.partitions import split_partition_key
from assets.kit.table_asset import TablesMismatch
from assets.kit.tuning import (
    ADAPTERS,
    BY_ARM,
    TRAINED_ON,
    TRAINING_CASES,
    digest_cases,
    picture_marks,
    training_cases_key,
)
from assets.training.fitting import POOL, FittedAdapter, build_entry, fit_adapter, format_entry
from assets.training.tuning.arms import find_shared_pictures
from assets.training.tuning.common import DECLARED, table_asset
from resources.storage.data_root import DataRoot
from resources.storage.files import is_stored
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.training.adapter_publication import CARD_FILE, write_card
from resources.training.recipe import TuningRecipe

_REQUIRED_COLUMNS = ("case_id", "question", "answer", "sha256")
_MAX_LISTED = 5
_DEFAULT: float = TuningRecipe.model_fields["learning_rate"].default
UNTRIED_USES = (
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
    home: DataRoot,
    images: ImageStore,
    work_cache: WorkCache,
    training_cases: pd.DataFrame,
) -> MaterializeResult[pa.Table]:
    """Train and publish it. Raises `TablesMismatch` and `TrainingError`."""
    parts = split_partition_key(context.partition_key, BY_ARM)
    arm, rate = parts["arm"], float(parts["learning_rate"])
    rows = TRAINING_CASES.read_rows(training_cases, training_cases_key(DECLARED.group))
    _require_no_overlap(rows)
    recipe = config.model_copy(update={"learning_rate": _rate(config.learning_rate, rate)})
    arm_rows = [row for row in rows if row["arm"] == arm]
    training_rows = [{name: row[name] for name in _REQUIRED_COLUMNS} for row in arm_rows]
    batch_size = recipe.per_device_batch_size * recipe.gradient_accumulation_steps
    name = f"{DECLARED.group}_{arm}_{parts['learning_rate'].replace('.', '_').replace('-', 'm')}"
    fitted = fit_adapter(
        name,
        "tuning",
        recipe,
        pa.Table.from_pylist(training_rows),
        [row["sha256"] for row in training_rows],
        batch_size * recipe.steps if recipe.steps else len(training_rows),
        home,
        images,
        work_cache,
        context.log,
        arm=arm,
        datasets=sorted({row["dataset"] for row in arm_rows}),
        is_stand_in=any(row["is_stand_in"] for row in arm_rows),
        **{TRAINED_ON: sorted(picture_marks(arm_rows))},
    )
    parameters: dict[str, Any] = {"max_new_tokens": 64}
    lines = format_entry(build_entry(name, "judge", recipe, fitted.adapter, **parameters))
    base_lines = format_entry(
        build_entry(f"{DECLARED.group}_before", "judge", recipe, **parameters)
    )
    if not is_stored(fitted.place / CARD_FILE):
        _write_first_card(fitted, arm, rate, lines)
    row = {
        "arm": arm,
        "learning_rate": rate,
        "adapter": fitted.adapter,
        "base": recipe.base,
        "revision": fitted.record["base"]["revision"],
        "data": digest_cases(rows),
        "rows": fitted.metadata["rows"],
        "steps": fitted.metadata["steps"],
        "is_stand_in": bool(fitted.record["is_stand_in"]),
    }
    entries = MarkdownMetadataValue(f"```yaml\n{base_lines}{lines}```")
    shown = {**fitted.metadata, "models_yaml": entries, "is_stand_in": row["is_stand_in"]}
    return to_materialize_result(ADAPTERS.build_table([row]), **shown)


def _rate(configured: float, rate: float) -> float:
    """The rate of the partition. Raises `TablesMismatch` where the config has yet another."""
    if configured not in (_DEFAULT, rate):
        raise TablesMismatch(
            f"adapter: the config has the learning rate {configured:g}, and the partition "
            f"{rate:g}. Leave it out of the config, and choose the partition. Nothing was begun."
        )
    return rate


def _require_no_overlap(rows: list[dict[str, Any]]) -> None:
    """Raise `TablesMismatch` where something is trained on that is held out."""
    shared_pictures = find_shared_pictures(rows)
    if shared_pictures:
        examples = "; ".join(
            f"{case} ({shared} of {other})"
            for _, case, shared, other in shared_pictures[:_MAX_LISTED]
        )
        raise TablesMismatch(
            f"{len(shared_pictures):,} rows of training_cases share a picture with cases "
            f"that are held out: {examples}. Materialize training_cases again. Nothing was begun."
        )


def _write_first_card(fitted: FittedAdapter, arm: str, rate: float, lines: str) -> None:
    write_card(
        fitted.place,
        f"Answers yes/no questions about pictures, fine-tuned on the {arm} arm of VHExpansion "
        f"(§5.4) at a learning rate of {rate:g}. These are not the weights of the paper's authors.",
        [{"dataset": "all", "symmetric accuracy": "not judged yet"}],
        lines,
        UNTRIED_USES,
    )

"""The adapters: ProtoScore, by GRPO on pairs, and its control, by a margin loss on P(yes)."""

import math
from collections.abc import Mapping, Sequence
from logging import Logger
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetIn,
    AssetsDefinition,
    MarkdownMetadataValue,
    MaterializeResult,
)

from assets.kit.columns import to_materialize_result, to_records
from assets.kit.pair_marks import add_marks
from assets.kit.pairs import TrainingPair
from assets.kit.previews import markdown_table
from assets.kit.step_asset import cost_metadata
from assets.kit.table_asset import TablesMismatch
from assets.training.fitting import POOL, FittedAdapter, build_entry, fit_adapter, format_entry
from assets.training.protoscore.common import asset_key, iterate_all_pairs, table_asset
from assets.training.protoscore.held_out import (
    HELD_OUT_SCORES,
    UNKNOWN,
    compute_rates,
    format_rates,
    score_held_out,
)
from assets.training.protoscore.training_pairs import (
    HELD_OUT,
    TRAINING,
    find_overlapping_rows,
    group_by_split,
)
from resources.models.client import ModelClient
from resources.settings.budget import Budget
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.training.adapter_publication import write_card
from resources.training.job import TrainingKind
from resources.training.recipe import MarginRecipe, RankingRecipe, Recipe
from resources.training.reward import SIDES

_MAX_LISTED = 5
_UNTRIED = (
    "Pictures of other painters than {painters}.",
    "Texts that are no sentences of ProtoBias, or not English.",
    "Other devices than {device}, and merged into its base.",
    "More than one training of each recipe: how much another seed changes is unknown.",
)


class _Way(NamedTuple):
    """Method by which an adapter is trained and scores pictures."""

    name: str
    kind: TrainingKind
    formula: str
    summary: str


RANKING = _Way(
    name="protoscore",
    kind="ranking",
    formula="expected_score",
    summary=(
        "How well a picture fits a text, 0 to 1: the expectation of the digit that "
        "is answered. By GRPO with a reward on pairs (ProtoBias, §3.3) of a picture "
        "that fits and a typical one that does not. These are not the weights of "
        "that paper's authors."
    ),
)
MARGIN = _Way(
    name="protoscore_margin",
    kind="margin",
    formula="vqa_score",
    summary=(
        "How well a picture fits a text, 0 to 1: P(yes). The control of ProtoScore: "
        "the same pairs, budget and adapter, trained by a plain margin loss."
    ),
)

_TOLD = "LoRA by TRL, in a process of its own; goes on where it was if it was killed."


def _adapter_asset(
    name: str, way: _Way, recipe: type[Recipe], description: str
) -> AssetsDefinition:
    """The asset that trains one of the two, publishes it and scores held-out pairs."""

    def compute(
        context: AssetExecutionContext,
        config: Any,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
        budget: Budget,
        training_pairs: pd.DataFrame,
    ) -> MaterializeResult[pa.Table]:
        """Train, publish and score. Raises `TablesMismatch` and `TrainingError`."""
        work = _Work(
            way=way,
            recipe=config,
            context=context,
            home=home,
            images=images,
            work_cache=work_cache,
            models=models,
            budget=budget,
        )
        return _train(work, training_pairs)

    # Dagster reads which config it is from here.
    compute.__annotations__["config"] = recipe
    return table_asset(
        key=asset_key(name),
        columns=HELD_OUT_SCORES,
        partitions=None,
        ins={"training_pairs": AssetIn(asset_key("training_pairs"))},
        pool=POOL,
        kinds=("huggingface",),
        description=f"{description} {_TOLD}",
    )(compute)


class _Work(NamedTuple):
    """A training: its recipe and its data."""

    way: _Way
    recipe: Recipe
    context: AssetExecutionContext
    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    models: ModelClient
    budget: Budget

    @property
    def log(self) -> Logger:
        return self.context.log


def _train(work: _Work, table: pd.DataFrame) -> MaterializeResult[pa.Table]:
    rows = to_records(table)
    _require_no_overlap(rows, list(iterate_all_pairs(work.home, work.context.instance)))
    training = [row for row in rows if row["split"] == TRAINING]
    held_out = [row for row in rows if row["split"] == HELD_OUT]
    training_rows = [{name: row[name] for name in ("pair", "text", *SIDES)} for row in training]
    fitted = fit_adapter(
        work.way.name,
        work.way.kind,
        work.recipe,
        pa.Table.from_pylist(training_rows),
        [row[side] for row in training_rows for side in SIDES],
        _count_picture_views(work.recipe, len(training_rows)),
        work.home,
        work.images,
        work.work_cache,
        work.log,
        painters=sorted({row["painter"] for row in training}),
        is_stand_in=any(row["is_stand_in"] for row in rows),
    )
    add_marks(fitted.place, group_by_split(rows))
    return _score(work, fitted, held_out)


def _count_picture_views(recipe: Recipe, pairs: int) -> int:
    """Count the pictures looked at, each as often as it is sampled."""
    samples = recipe.num_generations if isinstance(recipe, RankingRecipe) else 1
    batch_size = recipe.per_device_batch_size * recipe.gradient_accumulation_steps
    return len(SIDES) * samples * (batch_size * recipe.steps if recipe.steps else pairs)


def _require_no_overlap(rows: Sequence[Any], all_pairs: Sequence[TrainingPair]) -> None:
    """Raise `TablesMismatch` where pairs are evaluated by now that are like one to train on."""
    overlaps = find_overlapping_rows(rows, all_pairs)
    if len(overlaps):
        examples = "; ".join(
            f"{r['pair']} ({r['shares its']})" for r in to_records(overlaps.head(_MAX_LISTED))
        )
        raise TablesMismatch(
            f"{len(overlaps):,} pairs of protoscore/training_pairs are like ones that metrics are "
            f"evaluated on: {examples}. Materialize protoscore/training_pairs again. "
            "Nothing was begun."
        )


def _score(
    work: _Work, fitted: FittedAdapter, held_out: Sequence[Mapping[str, Any]]
) -> MaterializeResult[pa.Table]:
    """Score held-out pairs by the base and the adapter, and write the card."""
    way, recipe = work.way, work.recipe
    base = build_entry(f"{way.name}_base", "metric", recipe, formula=way.formula)
    entry = build_entry(way.name, "metric", recipe, fitted.adapter, formula=way.formula)
    account = work.budget.build_account(work.context)
    scores, results = [], []
    for model in (base, entry):
        of_model, result = score_held_out(model, held_out, work.models, work.log, account)
        scores += of_model
        results.append(result)
    table = HELD_OUT_SCORES.build_table(scores)
    rates = compute_rates(table.to_pandas())
    lines = format_entry(entry)
    write_card(
        fitted.place,
        work.way.summary,
        _results(rates),
        lines,
        [
            template.format(
                painters=", ".join(fitted.record["painters"]),
                device=fitted.record["trained"]["device"],
            )
            for template in _UNTRIED
        ],
    )
    overall_rates = rates[rates["domain"] == "all"].set_index("metric")["failure_rate"]
    return to_materialize_result(
        table,
        **fitted.metadata,
        models_yaml=MarkdownMetadataValue(f"```yaml\n{lines}```"),
        failure_rate_before=_to_metadata_value(overall_rates[base.name]),
        failure_rate=_to_metadata_value(overall_rates[entry.name]),
        held_out=markdown_table(format_rates(rates[_SHOWN_COLUMNS], "failure_rate", "delta")),
        is_stand_in=bool(fitted.record["is_stand_in"]),
        **cost_metadata(*results),
    )


_SHOWN_COLUMNS = [
    *("metric", "domain", "pairs", "prompts", "unscored", "ties"),
    *(f"{name}{end}" for name in ("failure_rate", "delta") for end in ("", "_low", "_high")),
]


def _to_metadata_value(rate: float) -> float | str:
    """A rate for metadata, which has no NaN."""
    return UNKNOWN if math.isnan(rate) else round(float(rate), 4)


def _results(rates: pd.DataFrame) -> list[dict[str, str]]:
    """The card's table of failure rates, in words."""
    shown = format_rates(rates[_SHOWN_COLUMNS], "failure_rate", "delta")
    return [
        {name.replace("_", " "): str(value) for name, value in row.items()}
        for row in to_records(shown)
    ]


adapter = _adapter_asset(
    "adapter",
    RANKING,
    RankingRecipe,
    "ProtoScore: trained by GRPO on pairs, and its scores of held-out pairs.",
)
margin_adapter = _adapter_asset(
    "margin_adapter",
    MARGIN,
    MarginRecipe,
    "The control: the same pairs by a margin loss on P(yes), and its scores.",
)

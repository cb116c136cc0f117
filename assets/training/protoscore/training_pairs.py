"""Training pairs: kept by the filter, and unlike any that metrics are evaluated on."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    Config,
    MaterializeResult,
)
from pydantic import Field

from assets.kit.checks import build_check_result
from assets.kit.columns import BOOLEAN, TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.pair_marks import find_overlaps, format_pair_name, index_by_mark
from assets.kit.pairs import TrainingPair
from assets.kit.previews import markdown_table
from assets.kit.table_asset import NotMaterialized
from assets.training.protoscore.common import (
    asset_key,
    iterate_all_pairs,
    load_pair_tables,
    table_asset,
)
from assets.training.protoscore.selection import split_pairs
from resources.storage.data_root import DataRoot

TRAINING, HELD_OUT = "training", "held out"
PAIRS = Columns(
    pair=(TEXT, "Painter and pair"),
    split=(TEXT, "training or held out"),
    pair_id=(TEXT, "Concept and sample, the same for every painter"),
    painter=(TEXT, "Painter of both pictures, as models.yaml names it"),
    domain=(TEXT, "animals, demography or objects"),
    concept_id=(TEXT, "Concept shown in the pair"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Trait of the extra element that differs in the adversarial picture"),
    setting=(TEXT, "Setting of the scene, such as on a quiet beach"),
    sample=(WHOLE, "Number of the pair among those of its sentences, from 0"),
    text=(TEXT, "The neutral sentence, by which both pictures are scored"),
    correct_sentence=(TEXT, "Prompt of the correct picture"),
    adversarial_sentence=(TEXT, "Prompt of the adversarial picture"),
    correct=(TEXT, "Name of the correct picture in the image store"),
    adversarial=(TEXT, "Name of the adversarial picture in the image store"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
"""Table with one row per pair, in the order of a limit: fewer are the beginning of more."""
NO_OVERLAP = AssetCheckSpec(
    "no_overlap",
    asset=asset_key("training_pairs"),
    description="No pair resembles an evaluated pair by triplet, by concept, knob and setting, or "
    "by picture, and no training pair resembles a held-out pair.",
    blocking=True,
)


class PairsConfig(Config):
    """Number and sources of the pairs."""

    pairs: int = Field(
        default=10_000,
        ge=1,
        description="Pairs to train on, balanced over domains; the paper has 10,000.",
    )
    held_out: int = Field(
        default=300,
        ge=1,
        description=(
            "Pairs held out to measure whether training helps, balanced over domains. They differ "
            "from the pairs of ProtoBias's tables, which stay unseen until all is decided."
        ),
    )
    painters: list[str] = Field(
        default=[],
        description=(
            "Painters to include. Default: all except stand-ins; stand-ins only if there is no "
            "other."
        ),
    )


def _training_pairs(
    context: AssetExecutionContext, config: PairsConfig, home: DataRoot
) -> MaterializeResult[pa.Table]:
    """Choose pairs. Raises `NotMaterialized` where there are too few of a split."""
    all_pairs = list(iterate_all_pairs(home, context.instance))
    split = split_pairs(_select_pairs(all_pairs, config.painters), config.pairs, config.held_out)
    if not split.training or not split.held_out:
        raise NotMaterialized(
            f"protoscore/training_pairs: of {len(all_pairs):,} kept pairs, "
            f"{sum(not pair.evaluated for pair in all_pairs):,} are not evaluated, and too few of "
            "these are unlike those that are. Materialize protobias/filtered_pairs of more "
            "concepts, or with a smaller `evaluated`."
        )
    rows = [
        *(_row(pair, TRAINING) for pair in split.training),
        *(_row(pair, HELD_OUT) for pair in split.held_out),
    ]
    if len(split.training) < config.pairs:
        context.log.warning(
            "%d pairs to train on, not %d: no domain has more than the one that has the fewest.",
            len(split.training),
            config.pairs,
        )
    table = PAIRS.build_table(rows)
    overlaps = find_overlapping_rows(rows, all_pairs)
    result = to_materialize_result(table, **_build_metadata(rows, overlaps))
    return result._replace(check_results=[_check_overlaps(overlaps, len(rows))])


# Dagster takes the result's type for that of several outputs, where there are checks.
del _training_pairs.__annotations__["return"]
training_pairs = table_asset(
    key=asset_key("training_pairs"),
    columns=PAIRS,
    partitions=None,
    deps=[AssetDep(table.asset) for table in load_pair_tables()],
    check_specs=[NO_OVERLAP],
    description="Pairs to train metrics on, and held-out pairs; none resembles an evaluated pair "
    "of any painter (ProtoBias, §3.3).",
)(_training_pairs)


def _select_pairs(pairs: Sequence[TrainingPair], painters: Sequence[str]) -> list[TrainingPair]:
    """The pairs that may be trained on, and all that are evaluated, which nothing may be like."""
    real = any(not pair.is_stand_in for pair in pairs)
    return [
        pair
        for pair in pairs
        if pair.evaluated
        or (pair.painter in painters if painters else not (pair.is_stand_in and real))
    ]


def to_pair(row: Any) -> TrainingPair:
    """The pair of a row of this table."""
    fields = {name: row[name] for name in TrainingPair._fields if name in row}
    sentences = (row["correct_sentence"], row["adversarial_sentence"])
    return TrainingPair(**fields, sentences=sentences, evaluated=False)


def group_by_split(rows: Sequence[Any]) -> dict[str, list[TrainingPair]]:
    """The pairs of rows of this table: those that are trained on, and those that are held out."""
    return {
        split: [to_pair(r) for r in rows if r["split"] == split] for split in (TRAINING, HELD_OUT)
    }


def find_overlapping_rows(rows: Sequence[Any], all_pairs: Sequence[TrainingPair]) -> pd.DataFrame:
    """The rows that are like a pair that is judged by; `all_pairs` has those stored now."""
    splits = group_by_split(rows)
    evaluated = index_by_mark(pair for pair in all_pairs if pair.evaluated)
    overlaps = [
        *find_overlaps([*splits[TRAINING], *splits[HELD_OUT]], evaluated.get),
        *find_overlaps(splits[TRAINING], index_by_mark(splits[HELD_OUT]).get),
    ]
    return pd.DataFrame(overlaps, columns=["pair", "shares its", "with"])


def _row(pair: TrainingPair, split: str) -> dict[str, Any]:
    sentences = dict(zip(("correct_sentence", "adversarial_sentence"), pair.sentences, strict=True))
    fields = {name: value for name, value in pair._asdict().items() if name in PAIRS.columns}
    return {"pair": format_pair_name(pair), "split": split, **fields, **sentences}


def _build_metadata(rows: Sequence[dict[str, Any]], overlaps: pd.DataFrame) -> dict[str, Any]:
    counts = Counter((row["split"], row["domain"], row["painter"]) for row in rows)
    shown = [(*labels, number) for labels, number in counts.items()]
    return {
        "training": sum(row["split"] == TRAINING for row in rows),
        "held_out": sum(row["split"] == HELD_OUT for row in rows),
        "overlap_with_evaluation": len(overlaps),
        "by_domain": markdown_table(
            pd.DataFrame(shown, columns=["split", "domain", "painter", "pairs"])
        ),
        "is_stand_in": any(row["is_stand_in"] for row in rows),
    }


def _check_overlaps(overlaps: pd.DataFrame, number: int) -> AssetCheckResult:
    description = f"{len(overlaps):,} of {number:,} pairs are like one that is judged by."
    return build_check_result(description, overlaps, overlap=len(overlaps))._replace(
        check_name=NO_OVERLAP.name
    )

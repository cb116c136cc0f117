"""Pairs of a collection, each checked before a judge is asked about any."""

from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.judge_sets.common import SETS, table_asset
from assets.judge_sets.pair_checks import check_pairs
from assets.kit.collections import collection_key, read_collected_rows
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from metrics.judge_sets.belonging import Belonging
from resources.collections import CollectionError
from resources.storage.data_root import DataRoot

PAIRS = Columns(
    image_id=(TEXT, "Readable name: the collection, and the row's name in it"),
    set=(TEXT, "The collection"),
    row=(WHOLE, "Number of the row in the table, from 1"),
    location=(TEXT, "Where the row stands in its file"),
    domain=(TEXT, "Domain of the row; all for a table without one"),
    file=(TEXT, "The picture's file, as the table names it; empty if unnamed"),
    source=(TEXT, "Folder of the picture's file; responses are checked by it"),
    sha256=(TEXT, "Name of the first picture in the image store; empty where it was rejected"),
    prompt_id=(TEXT, "Intervals resample it: the picture, or the question with its pictures"),
    pictures=(TEXTS, "Pictures of the question, then of response a, then of b"),
    question=(TEXT, "Question about the picture; \ufffc stands for one, here and in responses"),
    response_a=(TEXT, "The table's first response"),
    response_b=(TEXT, "The table's second response"),
    preferred=(TEXT, "The response that people prefer: a or b"),
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Reason for the rejection; empty if taken"),
)
_MAX_SHOWN = 20


class UnfitPairs(CollectionError):
    """A collection's pairs cannot be shown to judges; the message names a row and the remedy."""


def build_pairs_asset() -> AssetsDefinition:
    """The asset `pairs`."""

    @table_asset(
        partitions=SETS.build_partitions(),
        columns=PAIRS,
        deps=[AssetDep(collection_key(name)) for name in SETS.load()],
        description=(
            "Pairs of responses that people compared, with their picture and question; pairs that "
            "do not belong together are rejected, and no judge is asked about them."
        ),
    )
    def pairs(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Check all rows. Raises `UnfitPairs` where none is left."""
        name = context.partition_key
        rows, sources = check_pairs(read_collected_rows(home, name), SETS.load()[name])
        rejected = [row for row in rows if row["reason"]]
        if len(rejected) == len(rows):
            raise UnfitPairs(
                f"{name}: none of {len(rows):,} rows can be used. {rejected[0]['location']}: "
                f"{rejected[0]['reason']} Correct the download, or the entry in collections.yaml."
            )
        return to_materialize_result(
            PAIRS.build_table(rows),
            taken=len(rows) - len(rejected),
            rejected=len(rejected),
            sources=markdown_table(pd.DataFrame(map(_describe, sources, sources.values()))),
            rejected_rows=markdown_table(
                pd.DataFrame(rejected, columns=["location", "reason"])
                .groupby("reason", sort=False)["location"]
                .agg(["first", "size"])
                .reset_index()
                .head(_MAX_SHOWN)
            ),
        )

    return pairs


def _describe(source: str, result: Belonging) -> dict[str, Any]:
    verdict = "permuted" if result.is_permuted else "belong" if result.is_checked else "unchecked"
    return {"source": source, "rows": result.rows, "share": round(result.share, 3), "is": verdict}

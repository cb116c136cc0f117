"""Filtered pairs: those of which both pictures fit the sentence that they were painted from."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, partial_metadata
from assets.kit.pictures import Row, sheet
from assets.kit.previews import markdown_table
from assets.protobias.common import table_asset
from assets.protobias.filters import (
    Said,
    columns_of,
    family_warning,
    filter_of,
    look_at,
    rated,
    read_off,
    reads_pixels,
    unasked,
)
from assets.protobias.pairs import IMAGE_PAIRS
from assets.protobias.partitions import domain_and_painter, pairs
from assets.protobias.scoring import scorers
from assets.protobias.selection import first_pairs, ranks, retention, share_of, surviving
from resources.budget import Budget
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient

FILTERED = Columns(
    **IMAGE_PAIRS.columns,
    filter=(TEXT, "Who scored the picture, as models.yaml names it"),
    filter_family=(TEXT, "Its family"),
    filter_score=(WHOLE, "1 to 10, how well it fits its own prompt; empty where there is none"),
    filter_outcome=(TEXT, "scored, unparsed, refused, failed, or unpainted where it was not asked"),
    filter_response=(TEXT, "What the filter said; empty where it said nothing"),
    filter_reason=(TEXT, "Why there is no score; else empty"),
    keep_from=(WHOLE, "The lowest score that was kept"),
    kept=(BOOLEAN, "Whether the picture scored high enough"),
    pair_kept=(BOOLEAN, "Whether both pictures of its pair did"),
    rank=(WHOLE, "Place of the kept pair in the order of the evaluation; empty where dropped"),
    evaluated=(BOOLEAN, "Whether its pair is of the evaluation set"),
    filter_calls=(TEXTS, "Keys of the stored calls behind its score"),
)
"""One row an image, in the order of `image_pairs`, dropped ones as well."""


class Filtering(Limited):
    """Who filters, what is kept, and how much of that is evaluated; a limit is on pairs."""

    filter: str = Field(
        default="",
        description="A model of models.yaml with the role captioner or judge. By default the "
        "captioner that does not run offline, if there is just one, and pixels for schematics; the "
        "paper has Qwen2.5-VL-7B-Instruct.",
    )
    keep_from: int = Field(
        default=8, ge=1, le=10, description="The lowest score, of 1 to 10, that is kept."
    )
    evaluated: int = Field(
        default=1000,
        ge=1,
        description="Pairs of a painter that are evaluated, even over the domains. Fewer are the "
        "beginning of more.",
    )
    seed: int = Field(default=0, description="Of the order in which pairs are evaluated.")


def filtered_pairs_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `filtered_pairs`, with the filters of a catalog."""

    @table_asset(
        kinds=["image"],
        columns=FILTERED,
        partitions=pairs,
        pool="filtered_pairs",
        description="Each picture scored against its own prompt; a pair is kept where both fit.",
    )
    def filtered_pairs(
        context: AssetExecutionContext,
        config: Filtering,
        image_pairs: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Ask the filter about every picture without a flaw, and rank the pairs that survive."""
        domain, name = domain_and_painter(context.partition_key)
        judge = filter_of(catalog, chosen(catalog, name, "painter"), config.filter)
        warning = family_warning(judge, scorers(catalog))
        if warning is not None:
            context.log.warning("%s", warning)
        every = IMAGE_PAIRS.rows(image_pairs)
        pictures = first_pairs(every, config.limit)
        cost: dict[str, Any] = {}
        if reads_pixels(judge):
            said = read_off(to_filter(pictures), images)
        else:
            requests = [look_at(row["prompt"], row["sha256"]) for row in to_filter(pictures)]
            asked = models.ask(judge, requests, context.log, budget.account(context))
            said = map(rated, asked.outcomes, asked.keys)
            cost = cost_metadata(asked)
        rows = filtered(pictures, said, judge, config)
        return materialized(
            FILTERED.table(rows),
            filter=judge.name,
            **({} if warning is None else {"warning": warning}),
            pairs=len(rows) // 2,
            **partial_metadata(len(rows) // 2, len(every) // 2, "pairs"),
            pairs_kept=sum(row["pair_kept"] for row in rows) // 2,
            pairs_evaluated=sum(row["evaluated"] for row in rows) // 2,
            share_of_evaluation=share_of(domain, config.evaluated),
            **Counter(row["filter_outcome"] for row in rows),
            **{
                f"retention_by_{last}": markdown_table(retention(rows, *by, last))
                for *by, last in (("domain", "painter"), ("knob",), ("concept",))
            },
            contact_sheet=sheet(rows, _caption, images),
            **cost,
        )

    return filtered_pairs


def to_filter(rows: Sequence[Row]) -> list[Row]:
    """The pictures that the filter is asked about: those that are there, without a flaw."""
    return [row for row in rows if row["outcome"] == "painted"]


def filtered(
    pictures: Sequence[Row], said: Iterator[Said], judge: Model, config: Filtering
) -> list[dict[str, Any]]:
    """The rows of `filtered_pairs`; `said` are the scores of those `to_filter`, in their order."""
    rows: list[dict[str, Any]] = []
    for picture in pictures:
        score = next(said) if picture["outcome"] == "painted" else unasked(picture)
        rows.append(
            {
                **picture,
                "filter": judge.name,
                "filter_family": judge.family,
                **columns_of(score),
                "keep_from": config.keep_from,
                "kept": score.score is not None and score.score >= config.keep_from,
            }
        )
    concepts = {row["pair_id"]: row["concept_id"] for row in rows}
    shown: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        shown[row["pair_id"]].append(row["sha256"])
    places = ranks({pair: concepts[pair] for pair in surviving(rows)}, config.seed, shown)
    for row in rows:
        rank = places.get(row["pair_id"])
        most = share_of(row["domain"], config.evaluated)
        row |= {
            "pair_kept": rank is not None,
            "rank": rank,
            "evaluated": rank is not None and rank < most,
        }
    return rows


def _caption(row: Row) -> str:
    score = row["filter_score"] or row["filter_outcome"]
    return f"{row['concept']}, {row['side']}: {score}, {'kept' if row['pair_kept'] else 'dropped'}"

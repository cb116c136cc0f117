"""Concepts: what each item is to show, sampled by seed from the paper's lists."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import Field

from assets.frame.common import ITEM_COLUMNS, asset_key, frame_domains
from assets.kit.columns import BOOLEAN, TEXT, Columns
from assets.kit.forecast import StepSample
from assets.kit.limits import format_count_of_total
from assets.kit.previews import markdown_table
from assets.kit.step import Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from generators.prompts.visual_concepts import build_item_id, load_lists, sample_items
from resources.settings.run_config import Config

PAPER_ITEMS = 100
"""Items of a domain in the paper."""

CONCEPTS = Columns(
    **ITEM_COLUMNS,
    reserve=(BOOLEAN, "True if used only when an earlier item is left out"),
    outcome=(TEXT, "drawn"),
)


class FrameConceptsConfig(Config):
    """Number of items to draw."""

    items: int = Field(
        default=PAPER_ITEMS,
        ge=1,
        description=(
            "Items per domain; the paper has 100. A smaller number selects the first of a larger "
            "one."
        ),
    )
    reserve: int = Field(
        default=20,
        ge=0,
        description="Additional items, to replace those rejected by rule, a moderator or people.",
    )
    seed: int = Field(
        default=0, description="Random seed for sampling, and for the later choice of changes."
    )


class FrameConcepts(Step[FrameConceptsConfig]):
    """The items of a domain."""

    config = FrameConceptsConfig
    asset = StepAsset(
        key=asset_key("concepts"),
        partitions_def=frame_domains,
        description=(
            "Items to write instructions about: four or five visual concepts each (Table 8)."
        ),
    )
    table = StepTable(columns=CONCEPTS, key_columns=("item_id",))

    def rows(self, work: StepRun[FrameConceptsConfig]) -> list[dict[str, Any]]:
        """Sample the lists. Raises `NotEnoughItems`."""
        domain, config = work.partition, work.config
        drawn = sample_items(domain, config.items + config.reserve, config.seed)
        return [
            {
                "item_id": build_item_id(domain, concepts),
                "domain": domain,
                "attributes": list(concepts),
                "values": list(concepts.values()),
                "sample_rank": place,
                "seed": config.seed,
                "reserve": place >= config.items,
                "outcome": "drawn",
            }
            for place, concepts in enumerate(drawn.items)
        ]

    def metadata(self, work: StepRun[FrameConceptsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count each concept's occurrences, and mark it as the paper's or ours."""
        domain, config = work.partition, work.config
        return {
            "items": config.items,
            "reserve": config.reserve,
            "sample": format_count_of_total(config.items, PAPER_ITEMS, "items"),
            "infeasible": sample_items(domain, len(rows), config.seed).infeasible_count,
            "by_concept": markdown_table(_tabulate_concepts(domain, rows)),
        }


def describe_sample(partition: str, metadata: Mapping[str, Any]) -> StepSample:
    """Return a materialization's number of `instructions`, compared with the paper's."""
    number = int(metadata.get("instructions") or 0)
    return StepSample(
        format_count_of_total(number, PAPER_ITEMS, "instructions"), number < PAPER_ITEMS
    )


def _tabulate_concepts(domain: str, rows: Sequence[Row]) -> pd.DataFrame:
    pairs = [pair for row in rows for pair in zip(row["attributes"], row["values"], strict=True)]
    counted = [
        (attribute, value, whose, pairs.count((attribute, value)))
        for attribute, by in load_lists(domain).items()
        for whose, values in by.items()
        for value in values
    ]
    return pd.DataFrame(counted, columns=["attribute", "value", "list", "items"])

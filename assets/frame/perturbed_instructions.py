"""Perturbed instructions: 0 to all concepts of each changed, so that pictures fit more or less."""

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity

from assets.frame.common import ITEM_COLUMNS, WRITER_COLUMNS, asset_key, frame_domains
from assets.frame.concepts import describe_sample
from assets.frame.instructions import INSTRUCTIONS
from assets.frame.writing import (
    FrameWriterConfig,
    list_concepts,
    merge_calls,
    rule_columns,
    select_first_items,
    write_checked_sentence,
)
from assets.kit.columns import REAL, TEXT, TEXTS, WHOLE, Columns
from assets.kit.forecast import PENDING, Forecast
from assets.kit.previews import markdown_table
from assets.kit.sentences import SENTENCE_KEYS, WriteStep
from assets.kit.step import Check, Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.prompts.instructions import (
    find_instruction_problems,
    write_change_prompt,
    write_instruction,
)
from generators.prompts.visual_concepts import change_concepts

PERTURBED_INSTRUCTION_COLUMNS = Columns(
    **ITEM_COLUMNS,
    instruction=(TEXT, "Instruction by which pictures are judged"),
    concepts=(WHOLE, "Number of its concepts"),
    changes=(WHOLE, "Number of changed concepts"),
    changed=(TEXTS, "Attributes of the changed concepts"),
    new_values=(TEXTS, "New value of each changed attribute"),
    alignment=(REAL, "Share of unchanged concepts: how well a picture should fit"),
    prompt=(TEXT, "Instruction with the new values: the painters' prompt"),
    **WRITER_COLUMNS,
)


class PerturbedInstructions(WriteStep[FrameWriterConfig]):
    """Prompts that painters receive in a domain."""

    config = FrameWriterConfig
    asset = StepAsset(
        key=asset_key("perturbed_instructions"),
        partitions_def=frame_domains,
        description=(
            "Instructions with none to all of their concepts changed, in equal numbers, so that "
            "pictures fit the original instruction to different degrees (§4.1)."
        ),
    )
    table = StepTable(
        columns=PERTURBED_INSTRUCTION_COLUMNS,
        key_columns=("item_id",),
        unstored_keys=(*INSTRUCTIONS.columns, *SENTENCE_KEYS),
    )
    forecast = Forecast(
        # Any changed sentence may lack a concept.
        may_have_follow_up=lambda row: bool(row["changed"]),
        describe_sample=describe_sample,
    )
    inputs = MappingProxyType(
        {"instructions": Input(asset_key("instructions"), row_columns=INSTRUCTIONS)}
    )

    def rows(self, work: StepRun[FrameWriterConfig]) -> list[dict[str, Any]]:
        """The instructions that are used, each with what is changed."""
        used = [row for row in work.read_rows("instructions") if row["used"]]
        return [
            row | _choose_changes(row) | {"writer": work.config.writer}
            for row in select_first_items(used, work.config.limit)
        ]

    def converse(self, work: StepRun[FrameWriterConfig], row: Row) -> Conversation:
        """Have the instruction written anew; one without changes is as it was."""
        before = list_concepts(row)
        new = dict(zip(row["changed"], row["new_values"], strict=True))
        after, old = before | new, {name: before[name] for name in new}
        if not new:
            columns = rule_columns(row["instruction"])
        elif self.model(work.partition, work.config) is None:
            columns = rule_columns(write_instruction(row["domain"], after))
        else:
            prompt = write_change_prompt(row["instruction"] or "", before, new)
            columns = yield from write_checked_sentence(
                prompt, lambda text: find_instruction_problems(text, after, old)
            )
        return {**columns, "prompt": columns.get("sentence"), "calls": merge_calls(row, columns)}

    def extent(self, work: StepRun[FrameWriterConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all instructions in use."""
        return Extent(
            count=len(rows),
            total=int(work.tables["instructions"]["used"].sum()),
            unit="instructions",
        )

    def metadata(self, work: StepRun[FrameWriterConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count items by number of changes, and show some of them."""
        counts = sorted(Counter(row["changes"] for row in rows).items())
        shown = pd.DataFrame(rows[:10], columns=["changes", "instruction", "prompt"])
        return {
            "instructions": len(rows),
            "by_changes": markdown_table(pd.DataFrame(counts, columns=["changes", "items"])),
            "examples": markdown_table(shown),
        }

    def checks(self) -> list[Check]:
        """The changes are spread evenly."""
        return [
            Check(
                "changes_are_even",
                "Items with no change, one change, two changes and so on are equally frequent, "
                "within one, or a few more where reserve items are used.",
                _check_even,
            )
        ]


def _choose_changes(row: Row) -> dict[str, Any]:
    """Choose an item's changes; its place in the sample sets the number of concepts."""
    concepts = list_concepts(row)
    number = row["sample_rank"] % (len(concepts) + 1)
    new = change_concepts(row["domain"], concepts, number, row["seed"])
    return {
        "concepts": len(concepts),
        "changes": number,
        "changed": list(new),
        "new_values": list(new.values()),
        "alignment": 1 - number / len(concepts),
        "outcome": PENDING if row["outcome"] == PENDING else None,
    }


def _check_even(work: StepRun[FrameWriterConfig], rows: Sequence[Row]) -> AssetCheckResult:
    counts = Counter(row["changes"] for row in rows)
    moved = sum(row["sample_rank"] >= len(rows) for row in rows)
    item_counts = [counts[number] for number in range(rows[0]["concepts"] + 1)] if rows else [0]
    return AssetCheckResult(
        passed=max(item_counts) - min(item_counts) <= 1 + 2 * moved,
        severity=AssetCheckSeverity.WARN,
        description=f"{', '.join(map(str, item_counts))} items have 0, 1, 2 … concepts changed.",
    )

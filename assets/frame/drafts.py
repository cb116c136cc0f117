"""Drafts: one instruction of each item, written and checked by rule."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from assets.frame.common import ITEM_COLUMNS, WRITER_COLUMNS, asset_key, frame_domains
from assets.frame.concepts import CONCEPTS
from assets.frame.writing import (
    FrameWriterConfig,
    list_concepts,
    rule_columns,
    select_first_items,
    write_checked_sentence,
)
from assets.kit.columns import BOOLEAN, TEXT, Columns
from assets.kit.forecast import Forecast
from assets.kit.sentences import SENTENCE_KEYS, WriteStep
from assets.kit.step import Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.prompts.instructions import (
    find_instruction_problems,
    write_instruction,
    write_instruction_prompt,
)

DRAFTS = Columns(
    **ITEM_COLUMNS,
    reserve=(BOOLEAN, "True if used only when an earlier item is left out"),
    instruction=(TEXT, "Sentence that names every concept; empty if there is none"),
    **WRITER_COLUMNS,
)


class Drafts(WriteStep[FrameWriterConfig]):
    """The instructions of a domain, those in reserve as well."""

    config = FrameWriterConfig
    asset = StepAsset(
        key=asset_key("drafts"),
        partitions_def=frame_domains,
        description=(
            "An instruction for each item, checked by rule: it must name each concept (§4.1)."
        ),
    )
    table = StepTable(columns=DRAFTS, key_columns=("item_id",), unstored_keys=SENTENCE_KEYS)
    forecast = Forecast(may_have_follow_up=lambda row: True)
    inputs = MappingProxyType({"concepts": Input(asset_key("concepts"), row_columns=CONCEPTS)})

    def rows(self, work: StepRun[FrameWriterConfig]) -> list[dict[str, Any]]:
        """The items, those in reserve last."""
        drawn = select_first_items(work.read_rows("concepts"), work.config.limit)
        return [row | {"writer": work.config.writer, "outcome": None} for row in drawn]

    def converse(self, work: StepRun[FrameWriterConfig], row: Row) -> Conversation:
        """Have its instruction written; one that lacks a concept is asked for again."""
        concepts = list_concepts(row)
        if self.model(work.partition, work.config) is None:
            columns = rule_columns(write_instruction(row["domain"], concepts))
        else:
            prompt = write_instruction_prompt(row["domain"], concepts)
            columns = yield from write_checked_sentence(
                prompt, lambda text: find_instruction_problems(text, concepts)
            )
        return {**columns, "instruction": columns.get("sentence")}

    def extent(self, work: StepRun[FrameWriterConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all items."""
        return Extent(count=len(rows), total=len(work.tables["concepts"]), unit="items")

"""Drafts: one instruction of each item, written and checked by rule."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from assets.frame.common import GROUP, ITEM, WRITTEN, frame_domains, key
from assets.frame.concepts import CONCEPTS
from assets.frame.writing import Writing, by_rule, concepts_of, first_items, written
from assets.kit.columns import BOOLEAN, TEXT, Columns
from assets.kit.sentences import WriteStep
from assets.kit.step import Conversation, Extent, Input, Row, Work
from generators.prompts.instructions import ask_for, problems, write

DRAFTS = Columns(
    **ITEM,
    reserve=(BOOLEAN, "Whether it takes part only where an earlier one is left out"),
    instruction=(TEXT, "The sentence that names every concept; empty where there is none"),
    **WRITTEN,
)


class Drafts(WriteStep[Writing]):
    """The instructions of a domain, those in reserve as well."""

    group, name, columns, config, partitions = GROUP, "drafts", DRAFTS, Writing, frame_domains
    named_by = ("item_id",)
    inputs = MappingProxyType({"concepts": Input(key("concepts"), read_by=CONCEPTS)})
    description = "An instruction of each item, checked by rule: it names each concept (§4.1)."

    def rows(self, work: Work[Writing]) -> list[dict[str, Any]]:
        """The items, those in reserve last."""
        drawn = first_items(work.rows("concepts"), work.config.limit)
        return [row | {"writer": work.config.writer, "outcome": None} for row in drawn]

    def converse(self, work: Work[Writing], row: Row) -> Conversation:
        """Have its instruction written; one that lacks a concept is asked for again."""
        concepts = concepts_of(row)
        if self.model(work.partition, work.config) is None:
            said = by_rule(write(row["domain"], concepts))
        else:
            asked = ask_for(row["domain"], concepts)
            said = yield from written(asked, lambda text: problems(text, concepts))
        return {**said, "instruction": said.get("sentence")}

    def may_follow(self, row: Row) -> bool:
        """Any sentence may lack a concept."""
        return True

    def extent(self, work: Work[Writing], rows: Sequence[Row]) -> Extent:
        """Of all items."""
        return Extent(len(rows), len(work.tables["concepts"]), "items")

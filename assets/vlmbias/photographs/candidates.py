"""What may be published: every painted original and edited picture, as a model and people see it.

A vision model may be asked whether the subject is there, framed and visible. It is never asked how
many there are of anything: that is what judges are tested on, and a person decides it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    MaterializeResult,
    MetadataValue,
)
from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, partial_metadata
from assets.kit.pictures import PICTURED, Row, sheet
from assets.kit.previews import markdown_table
from assets.vlmbias.common import GROUP, painter_and_topic, photographs, table_asset
from assets.vlmbias.photographs.checking import CHECKERS, candidates_of, checked, checks_of
from assets.vlmbias.photographs.edits import EDITS
from assets.vlmbias.photographs.paintings import PAINTINGS
from assets.vlmbias.photographs.parts import first_photographs, part_in
from assets.vlmbias.photographs.retention import retention
from assets.vlmbias.photographs.review import write_review
from assets.vlmbias.photographs.subjects import photographs_of
from assets.vlmbias.photographs.verdicts import read_verdicts, review_file
from resources.budget import Budget
from resources.home import Home
from resources.images import ImageStore
from resources.models.catalog import Catalog
from resources.models.client import ModelClient

NOBODY = "none"
"""The checker that is none: a person sees everything."""

CANDIDATES = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    editor=(TEXT, "Who edited it, as models.yaml names it; empty for an original"),
    base_id=(TEXT, "The base image, without its painter"),
    variant=(TEXT, "original or counterfactual"),
    subject=(TEXT, "What is shown"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    prompt=(TEXT, "What its painter, or its editor, was asked for"),
    trial=(WHOLE, "Which of the independent edits it is, from 0; 0 for an original"),
    sentence=(TEXT, "What a person decides on"),
    outcome=(
        TEXT,
        "candidate; or how it ended before: dropped, refused, malformed, failed or unpainted",
    ),
    check=(TEXT, "passed, failed or unchecked; empty for what is no candidate"),
    failed_checks=(TEXTS, "The checks that were answered with No"),
    unread=(TEXTS, "The checks without an answer that can be read"),
    checker=(TEXT, "Who was asked, as models.yaml names it, or none"),
    **PICTURED,
)


_KEY = AssetKey([GROUP, "candidates"])


class Checker(Limited):
    """Who looks at candidates before people do; a limit is on base images."""

    checker: str = Field(
        default=NOBODY,
        description="A model of models.yaml with the role captioner or judge; or none.",
    )


def candidates_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `candidates`, with the checkers of a catalog."""

    @table_asset(
        kinds=["image"],
        columns=CANDIDATES,
        partitions=photographs,
        pool="candidates",
        description="Originals and edits, checked if wished, and laid out for people to review.",
    )
    def candidates(
        context: AssetExecutionContext,
        config: Checker,
        subjects: pd.DataFrame,
        paintings: pd.DataFrame,
        edits: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        home: Home,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Gather what may be published, ask the checker, and write the review of the topic."""
        painter, topic = painter_and_topic(context.partition_key)
        verdicts = read_verdicts(review_file(home, topic))
        every, edited = photographs_of(topic, subjects), EDITS.rows(edits)
        some = first_photographs(part_in(every, edited), config.limit)
        found = candidates_of(some, PAINTINGS.rows(paintings), edited)
        cost: dict[str, Any] = {}
        if config.checker != NOBODY:
            checker = chosen(catalog, config.checker, *CHECKERS)
            checks = checks_of(topic, found)
            requests = [check.request for check in checks]
            asked = models.ask(checker, requests, context.log, budget.account(context))
            found, cost = checked(found, checks, asked, checker), cost_metadata(asked)
        rows = [candidate.row for candidate in found]
        others = [
            row
            for name in context.instance.get_dynamic_partitions("painters")
            for row in stored_candidates(home, name, topic)
            if name != painter
        ]
        page = write_review(home, images, topic, [*others, *rows], verdicts)
        return materialized(
            CANDIDATES.table(rows),
            **Counter(row["outcome"] for row in rows),
            **Counter(row["check"] for row in rows if row["check"]),
            **partial_metadata(len(some), len(every), "base images"),
            retention=markdown_table(retention(rows)),
            review=MetadataValue.path(str(page)),
            contact_sheet=sheet(rows, _caption, images),
            **cost,
        )

    return candidates


def stored_candidates(home: Home, painter: str, topic: str) -> Sequence[Row]:
    """The candidates of a painter as they were last materialized, none if they never were."""
    try:
        table = home.table(_KEY, f"{painter}|{topic}")
    except FileNotFoundError:
        return []
    return CANDIDATES.rows(table)


def _caption(row: Row) -> str:
    trial = f", trial {row['trial']}" if row["variant"] == "counterfactual" else ""
    return f"{row['subject']}, {row['variant']}{trial}"

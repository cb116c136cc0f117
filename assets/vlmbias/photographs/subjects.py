"""What is to be painted: subjects, suggested by a model or taken from a list of our own."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetsDefinition, Config, MaterializeResult
from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.previews import markdown_table
from assets.vlmbias.common import photographed_topics, table_asset
from generators.photographs import Photograph, Topic, Unsuitable, photographed
from generators.scene import Variant
from resources.budget import Budget
from resources.models.catalog import Catalog
from resources.models.client import ModelClient
from resources.models.outcomes import Answered, Failed, Malformed, Outcome, Refused
from resources.models.requests import Turn, Write

BUILT_IN = "built-in"
"""The writer that is none: the topic's own list."""

SUBJECTS = Columns(
    domain=(TEXT, "Topic"),
    place=(WHOLE, "Place in the list, from 1"),
    suggested=(TEXT, "One suggestion, as JSON in the form that the topic asks for"),
    writer=(TEXT, "Who suggested it, as models.yaml names it, or built-in"),
    served_model=(TEXT, "Which model answered, as the provider says; empty where it does not"),
    rehearsal=(BOOLEAN, "Whether a model that runs offline suggested it"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for what is built in"),
)


class NoSubjects(ValueError):
    """Nothing was suggested that can serve."""


class Suggesting(Config):
    """Who suggests subjects."""

    writer: str = Field(
        default=BUILT_IN,
        description="A model of models.yaml with the role writer; or built-in, a list of our own.",
    )
    sample: int = Field(
        default=0,
        ge=0,
        description="Which of a writer's answers to take: 1, 2, … ask once more for another list.",
    )


def suggestion(topic: Topic, sample: int) -> Write:
    """What a writer is asked."""
    return Write((Turn("user", topic.SUGGESTION),), json.dumps(topic.SCHEMA), sample)


def photographs_of(topic: str, subjects: pd.DataFrame) -> list[Photograph]:
    """The base images to make of a table of subjects."""
    return photographed()[topic].photographs([json.loads(each) for each in subjects["suggested"]])


def truth_of(photograph: Photograph, variant: Variant) -> int:
    """How many there are of what is counted."""
    return photograph.standard if variant == "original" else photograph.truth


def subjects_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `subjects`, with the writers of a catalog."""

    @table_asset(
        columns=SUBJECTS,
        partitions=photographed_topics,
        pool="subjects",
        description="What is to be painted of a topic (VLMBias, Appendices C, D and M).",
    )
    def subjects(
        context: AssetExecutionContext, config: Suggesting, models: ModelClient, budget: Budget
    ) -> MaterializeResult[pa.Table]:
        """Take the list of our own, or ask a writer; raises `NoSubjects` for one that is unfit."""
        name = context.partition_key
        topic = photographed()[name]
        suggested, behind, cost = topic.BUILT_IN, _BUILT_IN, {}
        if config.writer != BUILT_IN:
            writer = chosen(catalog, config.writer, "writer")
            request = suggestion(topic, config.sample)
            asked = models.ask(writer, [request], context.log, budget.account(context))
            answer = _answered(asked.outcomes[0], config, name)
            suggested, cost = _list_in(answer.data), cost_metadata(asked)
            behind = {
                "writer": writer.name,
                "served_model": answer.served_model,
                "rehearsal": writer.rehearses,
                "calls": list(asked.keys[0]),
            }
        try:
            photographs = topic.photographs(suggested)
        except Unsuitable as why:
            raise _unfit(config, name, str(why)) from why
        rows = [
            {"domain": name, "place": place, "suggested": json.dumps(each), **behind}
            for place, each in enumerate(suggested, start=1)
        ]
        base_images = Counter(photograph.subtopic for photograph in photographs)
        return materialized(
            SUBJECTS.table(rows),
            suggested=len(rows),
            base_images=len(photographs),
            by_subtopic=markdown_table(
                pd.DataFrame(base_images.items(), columns=["subtopic", "base_images"])
            ),
            **cost,
        )

    return subjects


_BUILT_IN: Mapping[str, Any] = {
    "writer": BUILT_IN,
    "served_model": None,
    "rehearsal": False,
    "calls": [],
}


def _answered(outcome: Outcome, config: Suggesting, topic: str) -> Answered:
    match outcome:
        case Answered():
            return outcome
        case Refused(reason=why) | Malformed(problem=why) | Failed(error=why):
            raise _unfit(config, topic, why)
    raise TypeError(f"A suggestion cannot end as {outcome!r}.")


def _list_in(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The list in an answer: the one property of the object that it is."""
    (suggested,) = data.values()
    return cast(Sequence[Mapping[str, Any]], suggested)


def _unfit(config: Suggesting, topic: str, why: str) -> NoSubjects:
    return NoSubjects(
        f"What {config.writer} suggested for {topic} cannot serve: {why}. Materialize "
        f"vlmbias/subjects ({topic}) with another writer, or with sample: {config.sample + 1} for "
        "another answer of this one."
    )

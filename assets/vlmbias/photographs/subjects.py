"""Subjects to paint, suggested by a model or from a built-in list."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import pandas as pd
from pydantic import Field

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns
from assets.kit.conversations import unanswered_columns
from assets.kit.forecast import PENDING, NotCountable
from assets.kit.model_lookup import find_model
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Step, StepAsset, StepTable, UnfitAnswers
from assets.kit.step_run import Row, StepRun
from assets.vlmbias.common import asset_key, photographed_topics
from generators.photographs import Photograph, PhotographTopic, Unsuitable, load_photograph_topics
from generators.scene import Variant
from resources.models.catalog import Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import Turn, WriteRequest
from resources.settings.run_config import Config

BUILT_IN = "built-in"
"""The writer that is none: the topic's own list."""

SUBJECTS = Columns(
    domain=(TEXT, "Topic"),
    list_number=(WHOLE, "Number in the list, from 1"),
    suggestion=(TEXT, "Suggestion as JSON, in the form that the topic asks for"),
    writer=(TEXT, "Writer, as models.yaml names it, or built-in"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    is_stand_in=(BOOLEAN, "True if a stand-in suggested it"),
    calls=(TEXTS, "Keys of the stored calls behind it; none if built in"),
)


class NoSubjects(UnfitAnswers):
    """Error for a topic without a usable suggestion."""


class SubjectsConfig(Config):
    """Writer that suggests subjects."""

    writer: str = Field(
        default=BUILT_IN,
        description=(
            "A model of models.yaml with the role writer; or built-in, a list that comes with the "
            "benchmark."
        ),
    )
    sample: int = Field(
        default=0,
        ge=0,
        description="Number of the writer's answer to use: 1, 2, … request another list.",
    )


def build_suggestion_request(topic: PhotographTopic, sample: int) -> WriteRequest:
    """Build the request that asks a writer for subjects."""
    return WriteRequest((Turn("user", topic.SUGGESTION),), json.dumps(topic.SCHEMA), sample)


def list_photographs(topic: str, suggestions: Iterable[str]) -> list[Photograph]:
    """The base images to make of a table of subjects, by its column `suggestion`."""
    return load_photograph_topics()[topic].list_photographs(
        [json.loads(text) for text in suggestions]
    )


def ground_truth(photograph: Photograph, variant: Variant) -> int:
    """Return the true count in the picture of this variant."""
    return photograph.standard if variant == "original" else photograph.truth


class SuggestedSubjects(Step[SubjectsConfig]):
    """The subjects of a topic, of one suggestion."""

    config, example_request = SubjectsConfig, WriteRequest(())
    asset = StepAsset(
        key=asset_key("subjects"),
        partitions_def=photographed_topics,
        description="Subjects to paint for a topic (VLMBias, Appendices C, D and M).",
    )
    table = StepTable(columns=SUBJECTS, unstored_keys=("list", "reply"))

    def model(self, partition: str, config: SubjectsConfig) -> Model | None:
        """The writer, where there is one."""
        builtin = config.writer == BUILT_IN
        return None if builtin else find_model(self.catalog, config.writer, "writer")

    def rows(self, work: StepRun[SubjectsConfig]) -> list[dict[str, Any]]:
        """Build one row for the whole list, which `finish` divides into subjects."""
        return [{"domain": work.partition}]

    def converse(self, work: StepRun[SubjectsConfig], row: Row) -> Conversation:
        """Query the writer, or take the list of our own."""
        if work.config.writer == BUILT_IN:
            return {
                "list": load_photograph_topics()[work.partition].BUILT_IN,
                **{"writer": BUILT_IN, "is_stand_in": False, "calls": []},
            }
        outcome, calls = yield build_suggestion_request(
            load_photograph_topics()[work.partition], work.config.sample
        )
        writer = find_model(self.catalog, work.config.writer, "writer")
        writer_columns = {
            "writer": writer.name,
            "is_stand_in": writer.is_stand_in,
            "calls": [*calls],
        }
        return {"reply": outcome, **writer_columns}

    def finish(
        self, work: StepRun[SubjectsConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """A row for each subject; raises `NoSubjects` for a list that is unfit."""
        (row,) = rows
        if row.get(self.table.outcome_column) == PENDING:
            raise NotCountable(self.key.to_user_string())
        if "list" not in row:
            answer = row["reply"]
            if not isinstance(answer, AnsweredOutcome):
                raise _build_error(work, unanswered_columns(answer)["reason"])
            # The schema allows an object with one property: the list.
            (suggestion,) = cast(Mapping[str, Any], answer.data).values()
            row |= {"list": suggestion, "served_model": answer.served_model}
        try:
            load_photograph_topics()[work.partition].list_photographs(row["list"])
        except Unsuitable as error:
            raise _build_error(work, str(error)) from error
        return [
            {**row, "list_number": place, "suggestion": json.dumps(subject)}
            for place, subject in enumerate(row["list"], start=1)
        ]

    def metadata(self, work: StepRun[SubjectsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the base images that the suggestions give."""
        photographs = list_photographs(work.partition, [row["suggestion"] for row in rows])
        by_subtopic = Counter(photograph.subtopic for photograph in photographs)
        return {
            "suggestions": len(rows),
            "base_images": len(photographs),
            "by_subtopic": markdown_table(
                pd.DataFrame(by_subtopic.items(), columns=["subtopic", "base_images"])
            ),
        }


def _build_error(work: StepRun[SubjectsConfig], reason: str) -> NoSubjects:
    topic, config = work.partition, work.config
    return NoSubjects(
        f"The suggestions of {config.writer} for {topic} are unusable: {reason}. Materialize "
        f"vlmbias/subjects ({topic}) with another writer, or with sample: {config.sample + 1} for "
        "another answer of this one."
    )

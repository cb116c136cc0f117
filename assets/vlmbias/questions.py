"""The paper's questions about every image, with truth and expected bias."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    MaterializeResult,
    StaticPartitionMapping,
)
from pydantic import Field

from assets.kit.columns import TEXT, TEXTS, Columns, to_materialize_result, to_records
from assets.kit.previews import markdown_table
from assets.kit.table_asset import TablesMismatch
from assets.vlmbias.common import GROUP, table_asset
from assets.vlmbias.images import IMAGES
from assets.vlmbias.measurements import MEASUREMENTS
from assets.vlmbias.photographs.selection import format_published_id
from assets.vlmbias.photographs.subjects import ground_truth, list_photographs
from assets.vlmbias.verification import require_verified
from generators.domains import Domain, load_domain
from generators.photographs import load_photograph_topics
from generators.scene import Question
from generators.topics import DRAWN, PHOTOGRAPHED
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot

_IMAGE_COLUMNS = (
    *("image_id", "base_id", "sha256", "domain", "subject", "subtopic", "variant", "image_set"),
    *("size", "seed", "painter", "review", "is_stand_in"),
)
QUESTION_COLUMNS = Columns(
    **IMAGES.subset(*_IMAGE_COLUMNS),
    question_id=(TEXT, "Q1 and Q2 count, Q3 identifies; N1 and N2 are the sanity check"),
    target=(TEXT, "Target of the question"),
    question=(TEXT, "The paper's wording (Appendices A, F and N)"),
    ground_truth=(TEXT, "The right answer"),
    expected_bias=(TEXT, "Answer expected from a judge that does not look"),
    accepted=(TEXTS, "Accepted names for the right answer to N1; empty for other questions"),
)
"""Columns of a question, which answers repeat."""

QUESTIONS = Columns(
    **QUESTION_COLUMNS.columns,
    disputable=(TEXT, "Reason why another answer is defensible; empty if none is"),
)


class QuestionsConfig(Config):
    """Choice of questions."""

    disputable: bool = Field(
        default=True,
        description=(
            "Include questions to which another answer is defensible, such as whether a flag of "
            "49 stars, in force from 1959 to 1960, is that of the United States."
        ),
    )


def _tables(names: Sequence[str], topics: Sequence[str]) -> list[AssetDep]:
    """Dependencies on tables that exist for some topics alone, partition by partition."""
    mapping = StaticPartitionMapping({topic: topic for topic in topics})
    return [AssetDep([GROUP, name], partition_mapping=mapping) for name in names]


@table_asset(
    columns=QUESTIONS,
    deps=[
        *_tables(["drawn_images", "original_images", "measurements"], DRAWN),
        *_tables(["subjects", "photographs"], PHOTOGRAPHED),
    ],
    description="The questions about every verified image and photograph, with truth and bias.",
)
def questions(
    context: AssetExecutionContext, config: QuestionsConfig, home: DataRoot
) -> MaterializeResult[pa.Table]:
    """Ask about every image of a topic: Q1 to Q3, of originals N1 and N2 as well.

    Raises `Unverified` where labels of drawn images are not verified, and `TablesMismatch` where
    images were not made alike, by other code than there is now or of other subjects, or there are
    none.
    """
    name = context.partition_key
    image_questions = list(
        _iterate_photographs(name, home) if name in PHOTOGRAPHED else _iterate_drawn(name, home)
    )
    rows = [
        build_question_row(picture, question)
        for picture, picture_questions in image_questions
        for question in picture_questions
        if config.disputable or not question.disputable
    ]
    examples = pd.DataFrame(rows).drop_duplicates("question").head(12)
    return to_materialize_result(
        QUESTIONS.build_table(rows),
        questions=len(rows),
        disputable=sum(bool(row["disputable"]) for row in rows),
        images=len(image_questions),
        examples=markdown_table(
            examples[["question_id", "question", "ground_truth", "expected_bias"]]
        ),
    )


def build_question_row(picture: Mapping[str, Any], question: Question) -> dict[str, Any]:
    """Build the row of `QUESTIONS` of a question about an image."""
    cells = asdict(question)
    question_text = {"question": cells.pop("text")}
    return {column: picture[column] for column in _IMAGE_COLUMNS} | cells | question_text


ImageQuestions: TypeAlias = tuple[dict[str, Any], Sequence[Question]]
"""The row of an image, and the questions about it."""


def _iterate_drawn(name: str, home: DataRoot) -> Iterator[ImageQuestions]:
    topic = load_domain(name)
    drawn_images, original_images, measurements = (
        home.table(AssetKey([GROUP, table]), name, [*columns.columns])
        for table, columns in (
            ("drawn_images", IMAGES),
            ("original_images", IMAGES),
            ("measurements", MEASUREMENTS),
        )
    )
    pictures = pd.concat([drawn_images, original_images], ignore_index=True)
    require_drawn_alike(topic, drawn_images, original_images)
    require_verified(pictures, measurements)
    seed = int(pictures["seed"].iloc[0])
    scenes = {scene.base_id: scene for scene in topic.draw_module.list_scenes(seed)}
    for picture in to_records(pictures):
        yield picture, topic.ask_module.write_questions(scenes[picture["base_id"]])


def _iterate_photographs(name: str, home: DataRoot) -> Iterator[ImageQuestions]:
    subjects, pictures = (
        home.table(AssetKey([GROUP, table]), name) for table in ("subjects", "photographs")
    )
    if pictures.empty:
        raise TablesMismatch(
            f"vlmbias/photographs ({name}) holds no picture: all were rejected, or none was "
            "painted. See its metadata for why each was dropped."
        )
    photographs = {
        format_published_id(base_id, painter): photograph
        for photograph in list_photographs(name, subjects["suggestion"])
        for base_id in (photograph.base_id, photograph.original_id)
        for painter in pictures["painter"].unique()
    }
    for picture in to_records(pictures):
        photograph = photographs.get(picture["base_id"])
        if photograph is None or list(picture["truths"]) != [
            ground_truth(photograph, picture["variant"])
        ]:
            raise TablesMismatch(
                f"vlmbias/photographs ({name}) shows {picture['base_id']} of other subjects than "
                f"vlmbias/subjects holds now. Materialize vlmbias/photographs ({name}) again."
            )
        yield (
            picture,
            load_photograph_topics()[name].write_questions(photograph, picture["variant"]),
        )


def require_drawn_alike(topic: Domain, drawn: pd.DataFrame, originals: pd.DataFrame) -> None:
    """Raise `TablesMismatch` unless both were drawn alike, by the code that there is now."""
    remedy = "Materialize drawn_images and original_images together, with one seed and same sizes."
    sets = [images for images in (drawn, originals) if len(images)]
    for column in ("seed", "size", "generator_version", "rasteriser"):
        values = [sorted(images[column].unique()) for images in sets]
        if any(set_values != values[0] for set_values in values):
            differences = " and ".join(", ".join(map(str, set_values)) for set_values in values)
            raise TablesMismatch(
                f"Images and originals of {topic.name} differ in {column}: {differences}. {remedy}"
            )
    version = drawn["generator_version"].iloc[0]
    if version != topic.draw_module.VERSION:
        raise TablesMismatch(
            f"The images of {topic.name} were drawn by version {version} of its code, which is "
            f"now at version {topic.draw_module.VERSION}. {remedy}"
        )

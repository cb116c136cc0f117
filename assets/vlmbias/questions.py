"""The paper's questions about every image, with truth and expected bias."""

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    MaterializeResult,
    StaticPartitionMapping,
)

from assets.columns import TEXT, TEXTS, WHOLE, Columns, materialized, records
from assets.previews import markdown_table
from assets.vlmbias.common import GROUP, table_asset
from assets.vlmbias.proof import require_proof
from generators.domains import Domain, domain
from generators.topics import DRAWN
from resources.home import Home

QUESTIONS = Columns(
    image_id=(TEXT, "The image asked about"),
    base_id=(TEXT, "Its scene"),
    sha256=(TEXT, "Name of its PNG in the image store"),
    domain=(TEXT, "Topic"),
    subject=(TEXT, "What is shown"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    variant=(TEXT, "original or counterfactual"),
    image_set=(TEXT, "benchmark (the 912) or originals (the 117)"),
    size=(WHOLE, "The longer side in px"),
    seed=(WHOLE, "Seed of the scene"),
    question_id=(TEXT, "Q1 and Q2 count, Q3 identifies; N1 and N2 are the sanity check"),
    target=(TEXT, "What the question is about"),
    question=(TEXT, "The paper's wording (Appendices A, F and N)"),
    ground_truth=(TEXT, "The right answer"),
    expected_bias=(TEXT, "The answer of one who does not look"),
    accepted=(TEXTS, "Names that mean the right one, for N1; none where no name is asked for"),
)


_OF_THE_IMAGE = [
    "image_id",
    "base_id",
    "sha256",
    "domain",
    "subject",
    "variant",
    "image_set",
    "size",
    "seed",
]


class Mismatch(ValueError):
    """Two tables that belong together were not made together."""


_EACH_DRAWN = StaticPartitionMapping({topic: topic for topic in DRAWN})


def _table(name: str) -> AssetDep:
    return AssetDep([GROUP, name], partition_mapping=_EACH_DRAWN)


@table_asset(
    columns=QUESTIONS,
    deps=[_table("drawn_images"), _table("original_images"), _table("measurements")],
    description="The questions about every proved image, with truth and expected bias.",
)
def questions(context: AssetExecutionContext, home: Home) -> MaterializeResult[pa.Table]:
    """Ask about every image of a topic whose labels are proved: Q1 to Q3, of originals N1 and N2.

    Raises `Unproved` where they are not, and `Mismatch` where the two sets of images were not
    drawn alike, or by other code than there is now.
    """
    topic = domain(context.partition_key)
    drawn_images, original_images, measurements = (
        home.table(AssetKey([GROUP, name]), topic.name)
        for name in ("drawn_images", "original_images", "measurements")
    )
    pictures = pd.concat([drawn_images, original_images], ignore_index=True)
    _check_drawn_alike(topic, drawn_images, original_images)
    require_proof(pictures, measurements)
    seed = int(pictures["seed"].iloc[0])
    scenes = {scene.base_id: scene for scene in topic.drawing.scenes(seed)}
    rows = [
        {name: picture[name] for name in _OF_THE_IMAGE}
        | {
            "subtopic": question.subtopic,
            "question_id": question.question_id,
            "target": question.target,
            "question": question.text,
            "ground_truth": question.ground_truth,
            "expected_bias": question.expected_bias,
            "accepted": list(question.accepted),
        }
        for picture in records(pictures)
        for question in topic.asking.ask(scenes[picture["base_id"]])
    ]
    examples = pd.DataFrame(rows).drop_duplicates("question").head(12)
    return materialized(
        QUESTIONS.table(rows),
        questions=len(rows),
        images=len(pictures),
        examples=markdown_table(
            examples[["question_id", "question", "ground_truth", "expected_bias"]]
        ),
    )


def _check_drawn_alike(topic: Domain, drawn: pd.DataFrame, originals: pd.DataFrame) -> None:
    remedy = "Materialize drawn_images and original_images together, with one seed and same sizes."
    sets = [images for images in (drawn, originals) if len(images)]
    for column in ("seed", "size", "generator_version", "rasteriser"):
        values = [sorted(images[column].unique()) for images in sets]
        if any(each != values[0] for each in values):
            told = " and ".join(", ".join(map(str, each)) for each in values)
            raise Mismatch(
                f"Images and originals of {topic.name} differ in {column}: {told}. {remedy}"
            )
    version = drawn["generator_version"].iloc[0]
    if version != topic.drawing.VERSION:
        raise Mismatch(
            f"The images of {topic.name} were drawn by version {version} of its code, which is "
            f"now at version {topic.drawing.VERSION}. {remedy}"
        )

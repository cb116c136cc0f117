"""The paper's questions about every image, with truth and expected bias."""

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, MaterializeResult

from assets.columns import TEXT, WHOLE, Columns, materialized
from assets.previews import markdown_table
from assets.vlmbias.common import table_asset
from generators.domains import domain

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
    question_id=(TEXT, "Q1 and Q2 count, Q3 identifies"),
    target=(TEXT, "What the question is about"),
    question=(TEXT, "The paper's wording (Appendices A and F)"),
    ground_truth=(TEXT, "The right answer"),
    expected_bias=(TEXT, "The answer of one who does not look"),
)


class Mismatch(ValueError):
    """Two tables that belong together were not made together."""


@table_asset(
    columns=QUESTIONS,
    description="Q1, Q2 and Q3 of every image (VLMBias, Appendix A), with truth and expected bias.",
)
def questions(
    context: AssetExecutionContext, drawn_images: pd.DataFrame, original_images: pd.DataFrame
) -> MaterializeResult[pa.Table]:
    """Ask about every drawn image. Raises `Mismatch` where the two sets were not drawn alike."""
    topic = domain(context.partition_key)
    pictures = pd.concat([drawn_images, original_images], ignore_index=True)
    made = sorted(set(zip(pictures["seed"], pictures["generator_version"], strict=True)))
    if len(made) != 1 or made[0][1] != topic.drawing.VERSION:
        told = " and ".join(f"seed {seed} with version {version}" for seed, version in made)
        raise Mismatch(
            f"The images of {topic.name} were drawn from {told}; the drawing code is now at "
            f"version {topic.drawing.VERSION}. Materialize drawn_images and original_images "
            "together, with one seed."
        )
    scenes = {scene.base_id: scene for scene in topic.drawing.scenes(int(made[0][0]))}
    rows = [
        {
            "image_id": row.image_id,
            "base_id": row.base_id,
            "sha256": row.sha256,
            "domain": row.domain,
            "subject": row.subject,
            "subtopic": question.subtopic,
            "variant": row.variant,
            "image_set": row.image_set,
            "size": row.size,
            "question_id": question.question_id,
            "target": question.target,
            "question": question.text,
            "ground_truth": question.ground_truth,
            "expected_bias": question.expected_bias,
        }
        for row in pictures.itertuples(index=False)
        for question in topic.asking.ask(scenes[str(row.base_id)])
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

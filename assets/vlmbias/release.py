"""The tables that a release of VLMBias has: every question, and the published data set's layout."""

from collections.abc import Iterator

from assets.kit.columns import TEXT, Columns
from assets.kit.release_rows import SPLITS, find_split
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.vlmbias.images import IMAGES
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.release_published import PUBLISHED_LAYOUT
from assets.vlmbias.release_rows import (
    DRAWN_KEY,
    QUESTIONS_KEY,
    build_row,
    find_base_image,
    read_questions,
)
from assets.vlmbias.yes_no import format_question_name

_TRUTH = ("ground_truth", "expected_bias", "accepted")
_QUESTION = ("question_id", "target", "disputable")
_SCENE = ("subtopic", "subject", "variant", "image_set", "image_id", "base_id")
_SOURCE = ("size", "seed", "painter")
_PICTURE = ("modification", "width", "height")
_COLUMNS = Columns(
    id=(TEXT, "Name of the row: picture, question and its target"),
    image=(TEXT, "Picture as a judge gets it"),
    **QUESTIONS.subset("sha256"),
    prompt=(TEXT, "Text that a judge gets beside the picture, in the paper's wording"),
    **QUESTIONS.subset(*_TRUTH),
    topic=(TEXT, "Topic, by the name of its partition"),
    **QUESTIONS.subset(*_SCENE),
    **IMAGES.subset(*_PICTURE),
    **QUESTIONS.subset(*_QUESTION, *_SOURCE),
    base_image=(TEXT, "Original that all its sizes and changes share; it is in one split"),
    proof=(TEXT, "Proof of the label: pixels (read back from them) or people (accepted it)"),
)
_FROM_QUESTIONS = ("image", "sha256", "prompt", "topic", "proof", "id")


def _read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for row in read_questions(inputs):
        base_image = find_base_image(row)
        if find_split(base_image) == split:
            released = build_row(row, {})
            cells = {name: row.get(name) for name in _COLUMNS.columns} | {
                "id": format_question_name(row),
                "image": row["sha256"],
                "base_image": base_image,
                "proof": released.proof,
            }
            yield released._replace(cells=cells)


_OWN_LAYOUT = ReleaseTable(
    config="questions",
    description=(
        "Every question about every picture: Q1 and Q2 count, Q3 identifies, N1 and N2 are the "
        "sanity check about originals. All sizes and changes of one original are in one split."
    ),
    columns=_COLUMNS,
    sources={
        **dict.fromkeys((*_FROM_QUESTIONS, *_TRUTH, *_SCENE, *_QUESTION, *_SOURCE), QUESTIONS_KEY),
        **dict.fromkeys((*_PICTURE, "base_image"), DRAWN_KEY),
    },
    splits=SPLITS,
    read_rows=_read_rows,
    prompt_column="prompt",
    truth_column="ground_truth",
)

RELEASE_TABLES = (PUBLISHED_LAYOUT, _OWN_LAYOUT)
"""The first is what loaders take by default: tasks for the published data name no configuration."""

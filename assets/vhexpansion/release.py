"""The tables that a release of VHExpansion has: POPE's layout, and cases with their negations."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from dagster import AssetKey

from assets.kit.columns import TEXT, Columns
from assets.kit.release_rows import SPLITS, find_split
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.vhexpansion.common_perturbations import PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.release_rows import CASES_KEY, PERTURBED_KEY, read_cases

_POPE_COLUMNS = Columns(
    id=(TEXT, "Name of the row: the case, and original or negated"),
    question_id=(TEXT, "The same name, which tasks report scores by"),
    question=(TEXT, "Yes/no question, without an instruction on how to answer"),
    answer=(TEXT, "Its right answer: yes or no"),
    image_source=(TEXT, "Readable name of the picture"),
    image=(TEXT, "The picture"),
    category=(TEXT, "original, or negated"),
)
_CASE = ("case_id", "image_id", "origin", "source_question", "truth", "familiar_answer", "stated")
_PERTURBATION = ("perturbation", "parameters", "readable")
_COLUMNS = Columns(
    id=(TEXT, "Name of the row: the case, original or negated, and its perturbation"),
    image=(TEXT, "Picture as a judge gets it"),
    sha256=(TEXT, "Name of the picture in the image store"),
    prompt=(TEXT, "Text that a judge gets beside the picture"),
    question=(TEXT, "The question in it"),
    ground_truth=(TEXT, "The right answer: Yes or No"),
    form=(TEXT, "original, or negated: both are a pair, of one case_id and picture"),
    topic=(TEXT, "The dataset"),
    subtopic=(TEXT, "Topic in the dataset; empty if it has none"),
    **NEGATED_CASE_COLUMNS.subset(*_CASE, "rule", "writer", "seed"),
    **PERTURBED_PICTURE_COLUMNS.subset(*_PERTURBATION),
    base_image=(TEXT, "Picture that all its sizes and versions share; it is in one split"),
    proof=(TEXT, "Proof of the label: pixels, people, or source (the published data's)"),
)
_TSV = {"index": "id", "image": "image", "question": "prompt", "answer": "ground_truth"}


def _read_pope(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for row in read_cases(inputs):
        renamed = {
            "question_id": row.row_id,
            "category": row.cells["form"],
            "image_source": row.cells["image_id"],
        }
        yield _choose_cells(row, _POPE_COLUMNS, renamed)


def _read_split(are_perturbed: bool, inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for row in read_cases(inputs, are_perturbed=are_perturbed):
        if find_split(row.base_image) == split:
            yield _choose_cells(row, _COLUMNS, {})


def _choose_cells(row: ReleaseRow, columns: Columns, renamed: Mapping[str, str]) -> ReleaseRow:
    cells = {**row.cells, **renamed}
    return row._replace(cells={name: cells[name] for name in columns.columns})


def _build_table(
    config: str,
    description: str,
    read_rows: Callable[[ReleaseInputs, str], Iterator[ReleaseRow]],
    picture_key: AssetKey,
) -> ReleaseTable:
    return ReleaseTable(
        config=config,
        description=description,
        columns=_COLUMNS,
        sources={
            **dict.fromkeys(_COLUMNS.columns, CASES_KEY),
            **dict.fromkeys(("image", "sha256", *_PERTURBATION), picture_key),
        },
        splits=SPLITS,
        read_rows=read_rows,
        prompt_column="prompt",
        truth_column="ground_truth",
        tsv_columns={**_TSV, "category": "form"},
    )


RELEASE_TABLES = (
    ReleaseTable(
        config="pope",
        description="Cases and their negations in the columns of POPE, for tasks that load it.",
        columns=_POPE_COLUMNS,
        sources=dict.fromkeys(_POPE_COLUMNS.columns, CASES_KEY),
        read_rows=_read_pope,
        truth_column="answer",
    ),
    _build_table(
        "cases",
        "Yes/no questions about pictures, each with its negation; a judge that looks is right on "
        "both.",
        partial(_read_split, False),
        CASES_KEY,
    ),
    _build_table(
        "perturbed_cases",
        "The same questions about pictures with noise, changed brightness, defocus and JPEG "
        "compression; pictures that no longer show their truth to code are left out.",
        partial(_read_split, True),
        PERTURBED_KEY,
    ),
)
"""The first is what loaders take by default: tasks for the published data name no configuration."""

"""Group, keys, datasets and cases that all assets of this benchmark share."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.benchmarks import load_benchmarks
from assets.kit.collections import build_dataset_partitions, load_listed_collections
from assets.kit.columns import BOOLEAN, TEXT, WHOLE
from assets.kit.forecast import PENDING
from assets.kit.limits import SamplingKey, stratified_head
from assets.kit.yes_no import YesNoTable
from resources.collections import Collection

GROUP = "vhexpansion"
TITLE = "VHExpansion"
QUESTION = "Does an answer survive a negation, a blur, and an attacker who knows the encoder?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def load_declared_tables() -> dict[str, YesNoTable]:
    """Map each dataset's name to the table of another benchmark that declares it."""
    tables = (
        table for benchmark in load_benchmarks().values() for table in benchmark.yes_no_tables
    )
    return {name: table for table in tables for name in table.partitions}


def load_question_collections() -> Mapping[str, Collection]:
    """Map each dataset's name to its entry of collections.yaml with questions and answers."""
    collections = load_listed_collections().items()
    return {
        name: collection
        for name, collection in collections
        if collection.columns.question and collection.columns.answer
    }


def dataset_partitions() -> StaticPartitionsDefinition:
    """The partitions: datasets of other benchmarks, and then a user's collections.

    They are known once all benchmarks are: a step asks for them when it is made. Raises
    `CollectionError` for a collection that is called as a dataset of another benchmark.
    """
    dataset_assets = {name: table.asset for name, table in load_declared_tables().items()}
    return build_dataset_partitions(dataset_assets, load_question_collections(), "questions", TITLE)


def limit_cases(
    cases: Sequence[dict[str, Any]], outcome: str, limit: int | None
) -> list[dict[str, Any]]:
    """Cases that ended with `outcome`, or may; the first so many, even over topics and truths."""
    eligible_cases = [case for case in cases if case["outcome"] in (outcome, PENDING)]
    return stratified_head(
        eligible_cases,
        limit,
        lambda case: SamplingKey(case["case_id"], (case["topic"] or "", case["answer"] or "")),
    )


CASE_COLUMNS = {
    "case_id": (TEXT, "Readable, stable name: the dataset, and the case's name there"),
    "dataset": (TEXT, "The dataset: a collection, or a domain of another benchmark"),
    "image_id": (TEXT, "Readable name of the original picture"),
    "sha256": (TEXT, "Name of the original picture in the image store; empty if it is rejected"),
    "width": (WHOLE, "px"),
    "height": (WHOLE, "px"),
    "question": (TEXT, "The yes/no question"),
    "answer": (TEXT, "Its right answer: yes or no"),
    "origin": (
        TEXT,
        "Origin of the question: as it stands, count as it is, count as expected (the "
        "usual number), or option (it states one of several)",
    ),
    "topic": (TEXT, "Topic in the dataset; empty if it has none"),
    "case_number": (WHOLE, "Number in the dataset, from 0"),
    "seed": (WHOLE, "Random seed for the stated options"),
    "is_stand_in": (
        BOOLEAN,
        "True if a stand-in took part, so that it is no result",
    ),
}
"""The columns of a case."""

TRUTH_COLUMNS = {
    "source_question": (TEXT, "Full question that the case was made from"),
    "truth": (TEXT, "Right answer to that question: Yes, No, a number, or an option"),
    "familiar_answer": (
        TEXT,
        "Usual answer, given by judges that do not look; empty if unknown",
    ),
    "stated": (TEXT, "Number or option stated in the case's question; else empty"),
}
"""The columns that stand-in judges answer by."""

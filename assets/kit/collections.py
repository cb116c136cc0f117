"""Image collections of a user's own as assets: `collections/<name>`, one for each entry.

A step reads one as any other table:

    inputs = {"pictures": Input(collection_key("tifa160"), read_by=COLLECTED)}

and `taken(work.rows("pictures"))` are the rows that can be used.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    AssetsDefinition,
    MaterializeResult,
    StaticPartitionsDefinition,
)

from assets.kit.columns import REAL, REALS, TEXT, TEXTS, WHOLE, Columns, to_materialize_result
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized, table_asset
from resources.collections import Collection, CollectionError, collections_path, load
from resources.collections.collecting import collect
from resources.settings.project_folder import find_project_folder
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

GROUP = "collections"

COLLECTION_COLUMNS = Columns(
    image_id=(TEXT, "Readable name: the collection, and the row's name in the table"),
    row=(WHOLE, "Number of the row in the table, from 1"),
    location=(TEXT, "Where the row stands in its file, such as line 8"),
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Reason for the rejection; empty if taken"),
    sha256=(TEXT, "Name of the picture in the image store; empty where it was rejected"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    file=(TEXT, "The picture's file, as the table names it; empty if unnamed"),
    domain=(TEXT, "Domain; this and the next columns are empty if the table lacks them"),
    text=(TEXT, "Instruction or caption for the picture"),
    references=(TEXTS, "Correct captions"),
    human_score=(REAL, "Mean human score, on the collection's scale"),
    human_scores=(REALS, "Scores by each annotator"),
    scale_low=(REAL, "Lowest score of the scale"),
    scale_high=(REAL, "Highest score of the scale"),
    question=(TEXT, "Question about the picture"),
    answer=(TEXT, "Answer to the question, as in the table"),
    other_columns=(TEXT, "The table's other columns, as a JSON object"),
    options=(TEXT, "Options for the answer, as in the table"),
)

_MAX_SHOWN = 20
_CHECK = "every_row_is_taken"


def collection_key(name: str) -> AssetKey:
    """The key of a collection's asset."""
    return AssetKey([GROUP, name])


def read_collected_rows(home: DataRoot, name: str) -> Sequence[Row]:
    """Read all rows of a collection; raises `NotMaterialized` where it was never collected."""
    key = collection_key(name)
    stored = home.find(key, None)
    if stored is None:
        raise NotMaterialized(f"{key.to_user_string()} has no rows. Materialize it first.")
    return COLLECTION_COLUMNS.read_rows(stored, key)


def select_stored_rows(rows: Iterable[Row]) -> list[Row]:
    """The rows whose picture is in the image store."""
    return [row for row in rows if row["outcome"] == "taken"]


def load_listed_collections() -> Mapping[str, Collection]:
    """The collections of collections.yaml, by name; it is read again once it has changed."""
    path = collections_path()
    stamp = path.stat() if path.exists() else None
    return _load_listed(path, stamp and (stamp.st_mtime_ns, stamp.st_size))


@lru_cache(4)
def _load_listed(path: Path, stamp: tuple[int, int] | None) -> Mapping[str, Collection]:
    return load(path)


def list_sample_collections() -> Mapping[Path, Collection]:
    """The listed collections of the project's `photographs`, by file in that folder.

    The demo uses them beside what it draws.
    """
    folder = find_project_folder().resolve() / "photographs"
    return {
        Path(sample.path).relative_to(folder): sample
        for sample in load_listed_collections().values()
        if Path(sample.path).is_relative_to(folder)
    }


def find_sample_collection(file: str = "questions.csv") -> Collection | None:
    """The collection of a file of the project's `photographs`; None where it is not listed."""
    return list_sample_collections().get(Path(file))


@dataclass(frozen=True)
class CollectionSets:
    """The collections that a benchmark takes its items from.

    The one of a sample file, which comes along, is for trials: where others are listed, it is
    left out.
    """

    is_fit: Callable[[Collection], bool]
    sample_file: str
    """In the project's `photographs`."""

    def load(self) -> Mapping[str, Collection]:
        """The collections by name."""
        listed = load_listed_collections().items()
        fit = {name: collection for name, collection in listed if self.is_fit(collection)}
        sample = find_sample_collection(self.sample_file)
        return {name: fit[name] for name in fit if fit[name] != sample} or fit

    def build_partitions(self) -> StaticPartitionsDefinition:
        """The partitions: a collection each."""
        return StaticPartitionsDefinition([*self.load()])

    def list_samples(self) -> list[str]:
        """The name of the collection that comes along, where it is a set."""
        sample = find_sample_collection(self.sample_file)
        return [sample.name] if sample and sample.name in self.load() else []


def build_dataset_partitions(
    declared: Mapping[str, AssetKey], collection_names: Iterable[str], unit: str, title: str
) -> StaticPartitionsDefinition:
    """Partitions by dataset: the tables that other benchmarks declare, then collections.

    `declared` has those tables by dataset, `unit` names their rows, as in "pictures", and `title`
    the benchmark. Raises `CollectionError` for a collection with the name of such a dataset.
    """
    collection_names = list(collection_names)
    for name in collection_names:
        if name in declared:
            raise CollectionError(
                f"{collections_path()}: the collection {name!r} has the same name as the {unit} of "
                f"{declared[name].to_user_string()}, a dataset of {title}. Choose another name."
            )
    return StaticPartitionsDefinition([*declared, *collection_names])


def collection_asset(collection: Collection) -> AssetsDefinition:
    """The asset of a collection: its table, checked row by row, and its pictures in the store."""
    # Responses are among the other columns: without any, the table is what it was before.
    unused: dict[str, Any] = {} if collection.layout else {"layout": True}
    if not collection.columns.responses:
        unused["columns"] = {"responses", "preferred"}
    spec = AssetCheckSpec(
        _CHECK,
        asset=collection_key(collection.name),
        description="No row was rejected; those that were are listed with their reasons.",
    )

    def collected(images: ImageStore, work_cache: WorkCache) -> MaterializeResult[pa.Table]:
        rows = list(collect(collection, images, work_cache))
        rejected = [row for row in rows if row["outcome"] == "rejected"]
        result = to_materialize_result(
            COLLECTION_COLUMNS.build_table(rows),
            source=collection.path,
            taken=len(rows) - len(rejected),
            rejected=len(rejected),
            pictures=len({row["sha256"] for row in select_stored_rows(rows)}),
            contact_sheet=sample_contact_sheet(rows, _caption, images),
            **({"rejected_rows": _tabulate_rejected(rejected)} if rejected else {}),
            **_count_unscored(collection, select_stored_rows(rows)),
        )
        return result._replace(check_results=[_check_rejected(rows, rejected)])

    return table_asset(
        GROUP,
        key=collection_key(collection.name),
        description=f"Pictures of your own, from {collection.path}.",
        columns=COLLECTION_COLUMNS,
        partitions=None,
        kinds=("image",),
        code_version=build_work_key(
            collection.model_dump(mode="json", exclude={"licence": True, **unused})
        ),
        check_specs=[spec],
    )(collected)


def _caption(row: Row) -> str:
    return str(row["text"] or row["question"] or row["image_id"])[:60]


def _tabulate_rejected(rejected: Sequence[Row]) -> Any:
    return markdown_table(pd.DataFrame(rejected, columns=["location", "reason"]).head(_MAX_SHOWN))


def _count_unscored(collection: Collection, rows: Sequence[Row]) -> dict[str, Any]:
    if not collection.columns.human_score:
        return {}
    return {"without_human_score": sum(row["human_score"] is None for row in rows)}


def _check_rejected(rows: Sequence[Row], rejected: Sequence[Row]) -> AssetCheckResult:
    """A warning where rows were rejected, an error where all were."""
    taken_count = len(rows) - len(rejected)
    summary = f"{taken_count:,} of {len(rows):,} rows were taken."
    if rejected:
        ((reason, number), *_) = Counter(row["reason"] for row in rejected).most_common(1)
        repeated = f"Most frequent reason ({number:,} times)"
        summary += f" {repeated if number > 1 else 'Rejected'}: {reason}"
    return AssetCheckResult(
        check_name=_CHECK,
        passed=not rejected,
        severity=AssetCheckSeverity.WARN if taken_count else AssetCheckSeverity.ERROR,
        description=summary,
        metadata={"rejected_rows": _tabulate_rejected(rejected)} if rejected else {},
    )

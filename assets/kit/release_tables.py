"""Tables of a benchmark that a release publishes, in the layout that its readers load.

A benchmark declares them in its `BENCHMARK`; `assets/release` writes them and knows nothing else of
that benchmark.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from dagster import AssetKey

from assets.kit.columns import TEXT, Columns
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

Proof: TypeAlias = Literal["pixels", "people", "source", "construction", "model"]
"""How a row's label is known: read back from pixels, accepted by a person, published data's, a fact
of what code or a model made, or confirmed by a model alone, where the paper has no other proof."""


EVALUATION_VERSION_COLUMN = Columns(
    evaluation_version=(TEXT, "Version of prompts, reader and scorer; results compare within one")
)
"""The last column of every released table, which the writer fills with the benchmark's."""


class ReleaseInputs(NamedTuple):
    """Stores that the rows of a release are read from, and the partitions that it has."""

    home: DataRoot
    images: ImageStore
    work_cache: WorkCache
    catalog: Catalog
    partitions: Sequence[str]
    """Keys of the sources' materialized partitions that are released, of all sources together."""


class ReleaseRow(NamedTuple):
    """A row of a release, with what decides whether it may be published."""

    row_id: str
    """Readable, stable, and unique in its split."""
    cells: Mapping[str, Any]
    """A value for each column; in `image_columns` the sha256 of a picture in the image store."""
    base_image: str
    """What is one picture to a person: all its rows are in one split, unless splits are views."""
    proof: Proof | None
    """None: the label is unproved."""
    parts: Sequence[str]
    """Whose licences cover it: names of parts in `assets/kit/licences.py`, models, collections."""
    is_stand_in: bool = False
    unfit_reason: str | None = None
    """Reason why the row must not be published, such as an unreviewed photograph."""


@dataclass(frozen=True, kw_only=True)
class ReleaseTable:
    """One configuration of a release, as Hugging Face's loader of data sets names it."""

    config: str
    description: str
    columns: Columns
    """Columns in order. Those of pictures are TEXT here: the writer embeds the pictures."""
    image_columns: Sequence[str] = ("image",)
    sources: Mapping[str, AssetKey] = field(default_factory=dict)
    """The asset that made each column; columns that only a release has are left out."""
    splits: Sequence[str] = ("test",)
    read_rows: Callable[[ReleaseInputs, str], Iterator[ReleaseRow]]
    """Yield the rows of a split in a stable order, read as they are needed."""
    splits_are_views: bool = False
    """True where splits show the same pictures in other ways, as in published layouts."""
    id_column: str = "id"
    """The column that holds a row's `row_id`, by which harnesses' logs name it."""
    prompt_column: str = ""
    """The column of the text that a judge gets beside the pictures; empty: no judge is asked."""
    truth_column: str = ""
    """The column of the right answer, which a log of another seed contradicts."""
    tsv_columns: Mapping[str, str] = field(default_factory=dict)
    """For VLMEvalKit's TSV: its columns, each with the column here; empty: none is written."""


def add_evaluation_version(table: ReleaseTable, version: str) -> ReleaseTable:
    """Add the `EVALUATION_VERSION_COLUMN` to a table and to each of its rows."""

    def read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
        for row in table.read_rows(inputs, split):
            yield row._replace(cells={**row.cells, "evaluation_version": version})

    columns = Columns(**table.columns.columns, **EVALUATION_VERSION_COLUMN.columns)
    return replace(table, columns=columns, read_rows=read_rows)

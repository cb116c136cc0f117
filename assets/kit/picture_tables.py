"""Pictures of a benchmark that another can use, whatever they were made for.

A benchmark declares its tables in its `BENCHMARK`; who uses the pictures finds them there, and
knows nothing else of that benchmark.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dagster import AssetKey

from assets.kit.columns import Columns
from assets.kit.forecast import PENDING
from assets.kit.release_tables import Proof
from assets.kit.step_run import Row


class BenchmarkPicture(NamedTuple):
    """A picture of a benchmark, with what is known to be right of it."""

    image_id: str
    sha256: str
    scene: str
    """Subject of the picture; pictures of one scene at several sizes share it."""
    is_stand_in: bool
    references: Sequence[str] = ()
    """Captions that are known to be right, as of what code has drawn."""
    parts: Sequence[str] = ()
    """Whose licences cover it, as `ReleaseRow.parts` names them."""
    proof: Proof | None = None
    """How it is known to show what its benchmark says; None: it is not."""


class PictureTable(NamedTuple):
    """A table of pictures: an asset, its columns, and which picture a row has."""

    asset: AssetKey
    columns: Columns
    partitions: Sequence[str]
    """Its partitions, or where it is by painter their first half: part|painter."""
    to_picture: Callable[[Row], BenchmarkPicture | None]
    """The picture of a row, also of one that is pending; None for a row that has none to use."""
    by_painter: bool = False


def to_painted_picture(row: Row) -> BenchmarkPicture | None:
    """The picture of a row of what a painter made; None where it made none, or a flawed one."""
    if row["outcome"] not in ("painted", PENDING):
        return None
    return BenchmarkPicture(
        image_id=row["image_id"],
        sha256=row["sha256"],
        scene=row["image_id"],
        is_stand_in=bool(row["is_stand_in"]),
        parts=(row["painter"],),
    )

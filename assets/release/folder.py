"""The folder of a release: checked, then written beside its place, then described."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from assets.kit.benchmarks import Benchmark
from assets.kit.release_tables import ReleaseTable
from assets.release.answers import write_answers
from assets.release.checksums import write_checksums
from assets.release.contents import Release, ReleaseSources
from assets.release.description import describe_release
from assets.release.options import ReleaseOptions
from assets.release.parquet import SplitWriter, load_rows
from assets.release.preparation import PreparedRelease, prepare_release
from assets.release.staging import require_empty, write_beside
from assets.release.vlmevalkit import TsvWriter
from assets.release.webdataset import ShardWriter


def write_release(
    folder: Path,
    benchmark: Benchmark,
    sources: ReleaseSources,
    options: ReleaseOptions,
    *,
    replace: bool = False,
) -> Release:
    """Write the release of a benchmark to a folder that is new or empty, or that is replaced.

    The folder is there whole or not at all. Raises as `prepare_release` and `require_empty`,
    `DiskFull`, `UnwritableStore`, and `StoreError` for a picture that is damaged.
    """
    folder = folder.resolve()
    if not replace:
        require_empty(folder)
    prepared = prepare_release(benchmark, sources, options)
    with write_beside(folder, replace=replace) as scratch:
        digests, files = dict[str, str](), dict[tuple[str, str], Sequence[str]]()
        for table in prepared.tables:
            for split in prepared.checked.counts[table.config]:
                split_digests = _write_split(scratch, table, split, prepared)
                files[table.config, split] = list(split_digests)
                digests |= split_digests
        write_answers(scratch, prepared.answers, sources)
        release = prepared.build_release(files)
        describe_release(scratch, release, sources, digests)
        write_checksums(scratch, digests)
    return release


def _write_split(
    folder: Path, table: ReleaseTable, split: str, prepared: PreparedRelease
) -> Mapping[str, str]:
    """Write a split in all forms; return the sha256 of its Parquet files by path, in order."""
    parquet = SplitWriter(folder, table, split)
    others = list[TsvWriter | ShardWriter]()
    with ExitStack() as stack:
        if table.tsv_columns:
            others.append(stack.enter_context(TsvWriter(folder, table, split)))
        if prepared.options.has_webdataset:
            others.append(stack.enter_context(ShardWriter(folder, table, split)))
        rows = table.read_rows(prepared.inputs, split)
        for loaded in load_rows(table, rows, prepared.inputs.images):
            for writer in (parquet, *others):
                writer.write(loaded)
    return parquet.finish()

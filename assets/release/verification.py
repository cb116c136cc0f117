"""Check of a release's folder against the tables and the asset graph that it was made from."""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assets.kit.benchmarks import Benchmark
from assets.kit.release_tables import ReleaseRow, ReleaseTable
from assets.release import card, croissant, licences
from assets.release.checking import RowsRefused
from assets.release.checksums import CHECKSUMS, hash_files
from assets.release.contents import Release, ReleaseSources
from assets.release.leaderboards import RESULTS_FOLDER, build_leaderboard_files
from assets.release.options import ReleaseOptions
from assets.release.preparation import PreparedRelease, prepare_release
from assets.release.provenance import find_origins
from assets.release.refusals import ReleaseRefused

_NAMED = 20
"""Differences that a message lists."""
_BATCH_ROWS = 100


class ReleaseMismatch(ValueError):
    """A folder is not the release that today's tables and code make; the message says where."""


def verify_release(
    folder: Path, benchmark: Benchmark, sources: ReleaseSources, options: ReleaseOptions
) -> Release:
    """Compare checksums, descriptions and all rows of a folder with what would be released now.

    Raises `ReleaseMismatch`, and as `prepare_release`.
    """
    try:
        prepared = prepare_release(benchmark, sources, options)
    except RowsRefused as refusal:
        head = (
            f"{folder}: not compared, as nothing of {benchmark.title} could be released with these "
            "options. Give the --partitions, --licence and --webdataset that the folder was made "
            "with."
        )
        raise ReleaseRefused(refusal.format(head, "--check")) from None
    files = {
        (table.config, split): [
            path.relative_to(folder).as_posix()
            for path in sorted((folder / "data" / table.config).glob(f"{split}-*-of-*.parquet"))
        ]
        for table in prepared.tables
        for split in prepared.checked.counts[table.config]
    }
    release = prepared.build_release(files)
    digests = hash_files(folder, {})
    differences = [
        *_compare_json(CHECKSUMS, _read_checksums(folder / CHECKSUMS), digests),
        *_compare_descriptions(folder, release, sources, digests),
        *_compare_tables(folder, release, prepared),
    ]
    if differences:
        more = f"\n- and {len(differences) - _NAMED:,} more" if len(differences) > _NAMED else ""
        lines = "".join(f"\n- {difference}" for difference in differences[:_NAMED])
        raise ReleaseMismatch(
            f"{folder}: it is not the release of {release.title} that today's tables and code "
            f"make:{lines}{more}\nRelease it again, or check it with the options, tables and "
            "version that it was made with."
        )
    return release


def _read_checksums(path: Path) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _compare_descriptions(
    folder: Path, release: Release, sources: ReleaseSources, digests: Mapping[str, str]
) -> Iterator[str]:
    origins = find_origins(sources, release.parts, release.partitions)
    texts = {
        card.FILE: card.build_card(release, origins),
        licences.FILE: licences.build_licences(release.title, release.licences),
        **build_leaderboard_files(release),
    }
    for name, text in texts.items():
        yield from _compare_lines(folder / name, text)
    for name in sorted(digests.keys() - texts.keys()):
        if name.startswith(f"{RESULTS_FOLDER}/"):
            yield f"{name} is unexpected"
    try:
        document = json.loads((folder / croissant.FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        document = {}
    except ValueError as error:
        yield f"{croissant.FILE}: {error}"
        return
    expected = croissant.build_croissant(folder, release, origins, digests)
    yield from _compare_json(croissant.FILE, document, expected)


def _compare_lines(path: Path, expected_text: str) -> Iterator[str]:
    """Compare a text; the first line that differs stands for all."""
    if not path.is_file():
        yield f"{path.name} is missing"
        return
    text = path.read_text(encoding="utf-8")
    lines = zip_longest(text.splitlines(), expected_text.splitlines())
    for number, (line, expected) in enumerate(lines, 1):
        if line != expected:
            yield f"{path.name}, line {number} is {_quote(line)} instead of {_quote(expected)}"
            return


def _compare_tables(folder: Path, release: Release, prepared: PreparedRelease) -> Iterator[str]:
    for table in release.tables:
        declaration = table.declaration
        for split in table.splits:
            paths = [folder / name for name in split.files]
            expected_rows = declaration.read_rows(prepared.inputs, split.name)
            rows = _compare_rows(declaration, _iterate_rows(paths), expected_rows)
            # A split of which every row differs needs no line for each.
            try:
                yield from (f"{declaration.config}/{split.name}{text}" for text in islice(rows, 3))
            except pa.ArrowException as error:
                yield f"{declaration.config}/{split.name}: {error}"


def _iterate_rows(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with pq.ParquetFile(path, memory_map=True) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                yield from batch.to_pylist()


def _compare_rows(
    table: ReleaseTable, rows: Iterable[Mapping[str, Any]], expected_rows: Iterable[ReleaseRow]
) -> Iterator[str]:
    """Compare cells, and pictures by the sha256 of their bytes."""
    for row, expected in zip_longest(rows, expected_rows):
        if row is None or expected is None:
            yield f": it has {'fewer' if row is None else 'more'} rows than the tables"
            return
        cells = {
            name: sha256(cell["bytes"]).hexdigest()
            if name in table.image_columns and cell is not None
            else cell
            for name, cell in row.items()
        }
        expected_cells = {name: expected.cells.get(name) for name in table.columns.columns}
        yield from _compare_json(f"/{expected.row_id}", cells, _to_plain(expected_cells))


def _to_plain(value: Any) -> Any:
    """The value with lists in the place of tuples, as Arrow gives them."""
    if isinstance(value, Mapping):
        return {name: _to_plain(item) for name, item in value.items()}
    return [*map(_to_plain, value)] if isinstance(value, list | tuple) else value


def _compare_json(place: str, value: Any, expected: Any) -> Iterator[str]:
    """Compare JSON values; items of lists are named by their @id, if they have one."""
    if isinstance(value, dict) and isinstance(expected, dict):
        for name in dict.fromkeys([*expected, *value]):
            if name not in value:
                yield f"{place}: {name} is missing"
            elif name not in expected:
                yield f"{place}: {name} is unexpected"
            else:
                yield from _compare_json(f"{place}: {name}", value[name], expected[name])
    elif isinstance(value, list) and isinstance(expected, list) and _has_ids([*value, *expected]):
        yield from _compare_json(place, _key_by_id(value), _key_by_id(expected))
        if [*_key_by_id(value)] != [*_key_by_id(expected)] or len(value) != len(expected):
            yield f"{place}: other order or repeated items"
    elif value != expected:
        yield f"{place} is {_quote(value)} instead of {_quote(expected)}"


def _has_ids(items: Iterable[Any]) -> bool:
    return all(isinstance(item, dict) and "@id" in item for item in items)


def _key_by_id(items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {item["@id"]: item for item in items}


def _quote(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}…"

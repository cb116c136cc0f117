"""Writing a cassette."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from typing import IO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from resources.calls import CallStore
from resources.cassette import archive_format as layout
from resources.cassette.archive_format import BadCassette
from resources.execution.workers import map_in_threads
from resources.faults import CorruptItem, MissingItem, UnwritableStore
from resources.storage.atomic_writes import (
    FilePath,
    is_remote,
    open_to_write,
    reach,
    to_local_path,
)
from resources.storage.image_store import ImageStore
from resources.user_files.spreadsheets import guard_sheet

_THE_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_ENTRY = b"PK\3\4"
"""The start of a zip's part; its name follows at `_NAME_OFFSET`."""
_NAME_OFFSET = 30
_HEAD_BYTES = _NAME_OFFSET + len(layout.CALLS)


class ExportResult(NamedTuple):
    """Counts of a cassette, and its length in bytes."""

    calls: int
    pictures: int
    reviews: int
    bytes: int


def export_cassette(
    path: FilePath,
    keys: Collection[str],
    calls: CallStore,
    images: ImageStore,
    reviews: Mapping[str, bytes],
) -> ExportResult:
    """Write the calls of `keys` and the pictures in their answers; `reviews` are files by topic.

    The file is there whole or not at all. Calls and pictures pass through, a few at a time. Raises
    `MissingItem` or `CorruptItem` where a call or picture is not as it was stored, and
    `UnwritableStore`.
    """
    with _write_whole(path) as file:
        with ZipFile(file, "w") as archive:
            listed, digests = _write_calls(archive, set(keys), calls)
            parts = {layout.CALLS: listed}
            for digest, png in map_in_threads(partial(_load_picture, images), sorted(digests)):
                archive.writestr(_part(layout.format_picture_part(digest)), png)
            for topic, sheet in sorted(reviews.items()):
                review = _sheet(topic, sheet)
                name = _review_part(topic)
                archive.writestr(_part(name, ZIP_DEFLATED), review)
                parts[name] = layout.ArchivePart(
                    sha256=sha256(review).hexdigest(), bytes=len(review)
                )
            manifest = layout.CassetteManifest(
                format="counterfactory cassette",
                version=layout.VERSION,
                calls=len(set(keys)),
                pictures=len(digests),
                parts=parts,
            )
            archive.writestr(_part(layout.MANIFEST), manifest.model_dump_json(indent=1) + "\n")
        size = file.tell()
    return ExportResult(
        calls=len(set(keys)), pictures=len(digests), reviews=len(reviews), bytes=size
    )


def require_replaceable(path: FilePath) -> None:
    """Raise `BadCassette` if a file at `path` is no cassette; an empty one may be replaced."""
    try:
        head = _read_head(path)
    except OSError as error:
        raise BadCassette(
            f"{path} is there and cannot be read ({error.strerror or error}): name another file."
        ) from None
    if head and not (head.startswith(_ENTRY) and head[_NAME_OFFSET:] == layout.CALLS.encode()):
        raise BadCassette(f"{path} is there and is no cassette: name another file.")


def _read_head(path: FilePath) -> bytes:
    """The first bytes of a file; none if there is no file."""
    if is_remote(path):
        # Credentials that may only write are told of no object, nor of its content.
        with suppress(OSError):
            return reach(path, lambda: bytes(path.fs.cat_file(path.path, 0, _HEAD_BYTES)))
        return b""
    if not path.is_file():
        return b""
    with to_local_path(path).open("rb") as file:
        return file.read(_HEAD_BYTES)


def _review_part(topic: str) -> str:
    name = layout.format_review_part(topic)
    if layout.REVIEW.fullmatch(name) is None:
        raise UnwritableStore(
            f"{name}: a cassette holds review files that are called by letters, digits, spaces, _ "
            "and - alone. Rename it."
        )
    return name


def _write_calls(
    archive: ZipFile, keys: set[str], calls: CallStore
) -> tuple[layout.ArchivePart, set[str]]:
    """Write the part of calls; returns its entry in the manifest, and the pictures."""
    digest, size, pictures, written = sha256(), 0, set[str](), 0
    info = _part(layout.CALLS, ZIP_DEFLATED)
    with archive.open(info, "w", force_zip64=True) as part:
        for call in calls.iterate_calls(keys):
            line = layout.encode_call(call)
            _check(line, call.key)
            part.write(line)
            digest.update(line)
            size, written = size + len(line), written + 1
            pictures.update(layout.list_picture_digests(call))
    if written != len(keys):
        raise MissingItem(
            f"{len(keys) - written:,} of {len(keys):,} calls that the tables name are not in the "
            "call store. Point COUNTERFACTORY_CALLS at the store that they were made with, or "
            "materialize the tables again; no cassette was written."
        )
    return layout.ArchivePart(sha256=digest.hexdigest(), bytes=size), pictures


def _check(line: bytes, key: str) -> None:
    """Raise `CorruptItem` where the call could not be imported again."""
    try:
        layout.decode_call(line)
    except ValueError as error:
        raise CorruptItem(
            f"The call {key} in the call store is not what was stored there: {error}. Restore a "
            "copy of the store; no cassette was written."
        ) from None


def _load_picture(images: ImageStore, digest: str) -> tuple[str, bytes]:
    try:
        return digest, images.get(digest)
    except (MissingItem, CorruptItem) as error:
        raise type(error)(
            f"The picture {images.path(digest)}, which an answer holds, is gone or damaged. It was "
            "paid for: restore it from a copy of the images, or import a cassette that holds it. "
            "No cassette was written."
        ) from error


def _sheet(topic: str, sheet: bytes) -> bytes:
    """A review file in which no cell is run as a formula by a spreadsheet."""
    try:
        return guard_sheet(sheet)
    except ValueError as problem:
        raise CorruptItem(
            f"The review of {topic} cannot be exported: {problem}. Save it as CSV with UTF-8; no "
            "cassette was written."
        ) from None


def _part(name: str, compression: int = ZIP_STORED) -> ZipInfo:
    """A part's entry, the same on every system."""
    info = ZipInfo(name, _THE_FIRST_DATE)
    info.compress_type = compression
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


@contextmanager
def _write_whole(path: FilePath) -> Iterator[IO[bytes]]:
    """A file that is there whole or not at all; raises `UnwritableStore`."""
    try:
        with open_to_write(path) as file:
            yield file
    except OSError as error:
        raise UnwritableStore(
            f"{path} cannot be written ({error.strerror or error}). Free some space, or choose "
            "another file; what was there before is as it was."
        ) from error

"""Reading of an untrusted cassette: every part is checked."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from resources.calls import Call
from resources.cassette import archive_format as layout
from resources.cassette.archive_format import BadCassette
from resources.execution.workers import map_in_threads
from resources.models.answer_forms import format_first_error
from resources.storage.atomic_writes import FilePath
from resources.storage.files import open_copy
from resources.untrusted_input.json_text import count_values
from resources.untrusted_input.png_check import BadPng, check_png
from resources.user_files.spreadsheets import guard_sheet

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_BYTES = 20
_ENCRYPTED = 0x1
_BATCH_SIZE = 500
"""Calls that are imported together."""
_BYTES_A_VALUE = 32
"""Memory that a value takes in a call, beside its text: `calls` gives a call of the most values
that are taken by itself."""
_REMEDY = "Get the file again, or have it exported again; nothing was imported."

_OPENING_FAULTS = (
    *(BadZipFile, ValueError, OverflowError, struct.error),
    RuntimeError,  # its subclass is zipfile's own, for an unknown version of the format
)
_UNPACKING_FAULTS = (
    *(BadZipFile, zlib.error, EOFError),
    RuntimeError,  # zipfile's own, for a password, and its subclass for an unknown way of packing
)


class Cassette:
    """An open cassette; every method raises `BadCassette`, with file, part and remedy."""

    def __init__(self, path: FilePath, archive: ZipFile) -> None:
        self._path, self._archive = path, archive
        self._build_error = partial(_build_error, path)
        self._parts = {info.filename: info for info in archive.infolist()}
        self._check_parts(archive.infolist())
        self.manifest = self._manifest()
        self.pictures = [
            match[1] for name in self._parts if (match := layout.PICTURE.fullmatch(name))
        ]
        self.topics = [match[1] for name in self._parts if (match := layout.REVIEW.fullmatch(name))]

    def check(self) -> None:
        """Read everything, a little at a time."""
        referenced_digests, stored_digests = self._check_calls(), set(self.pictures)
        for digest in sorted(stored_digests - referenced_digests):
            raise self._build_error(layout.format_picture_part(digest), "no answer holds it")
        if len(stored_digests) != self.manifest.pictures:
            problem = (
                f"there are {len(stored_digests):,} pictures and it says {self.manifest.pictures:,}"
            )
            raise self._build_error(layout.MANIFEST, problem)
        for topic in self.topics:
            name = layout.format_review_part(topic)
            self._compare(name, sha256(self._read(name)).hexdigest())
            self.review(topic)
        for _ in map_in_threads(self._check_picture, self.pictures):
            pass

    def calls(self) -> Iterator[list[Call]]:
        """Yield calls in order of key, as many at a time as memory allows."""
        chunk, chunk_bytes = list[Call](), 0
        for call, size in self._calls():
            if chunk and (len(chunk) == _BATCH_SIZE or chunk_bytes + size > layout.MAX_LINE_BYTES):
                yield chunk
                chunk, chunk_bytes = [], 0
            chunk.append(call)
            chunk_bytes += size
        yield chunk

    def picture(self, digest: str) -> bytes:
        """The bytes of a picture."""
        return self._read(layout.format_picture_part(digest))

    def review(self, topic: str) -> bytes:
        """The review file of a topic, with no cell that a spreadsheet program would run."""
        try:
            return guard_sheet(self._read(layout.format_review_part(topic)))
        except ValueError as problem:
            raise self._build_error(layout.format_review_part(topic), str(problem)) from None

    def _calls(self) -> Iterator[tuple[Call, int]]:
        """Yield calls with their weight: the length of the line, and more for many values."""
        before = ""
        for number, line in enumerate(self._lines(), 1):
            position = f"{layout.CALLS}, line {number}"
            try:
                call = layout.decode_call(line)
            except ValueError as error:
                raise self._build_error(
                    position, f"it is not what was exported ({error})"
                ) from None
            if call.key <= before:
                raise self._build_error(position, "its calls are not in order of key, each once")
            before = call.key
            yield call, len(line) + _BYTES_A_VALUE * count_values(line.decode())

    def _check_parts(self, infos: list[ZipInfo]) -> None:
        names = [info.filename for info in infos]
        for name in (layout.CALLS, layout.MANIFEST):
            if name not in names:
                raise self._build_error(name, "it is missing")
        for info in infos:
            limit = _find_limit(info.filename)
            if limit is None:
                raise self._build_error(repr(info.filename), "no cassette has such a part")
            if info.flag_bits & _ENCRYPTED:
                raise self._build_error(info.filename, "it is encrypted")
            if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise self._build_error(
                    info.filename, "it is packed in a way that cassettes are not"
                )
            swells = info.file_size > max(
                layout.MAX_LINE_BYTES, layout.MAX_COMPRESSION_RATIO * info.compress_size
            )
            if info.file_size > limit or swells:
                raise self._build_error(info.filename, f"it would be {info.file_size:,} bytes")
        if len(set(names)) < len(names):
            raise self._build_error("its list of parts", "one is there twice")

    def _manifest(self) -> layout.CassetteManifest:
        data = self._read(layout.MANIFEST)
        try:
            manifest = layout.CassetteManifest.model_validate_json(data)
        except ValidationError as error:
            raise self._build_error(layout.MANIFEST, format_first_error(error)) from None
        if manifest.version != layout.VERSION:
            raise BadCassette(
                f"{self._path} is a cassette of version {manifest.version}, and this "
                f"Counterfactory reads version {layout.VERSION}. Use the one it was made with, or "
                "have it exported again with this one; nothing was imported."
            )
        named = {name for name in self._parts if not layout.PICTURE.fullmatch(name)}
        if set(manifest.parts) != named - {layout.MANIFEST}:
            raise self._build_error(layout.MANIFEST, "it lists other parts than there are")
        return manifest

    def _check_calls(self) -> set[str]:
        """Check all calls; returns the pictures that their answers hold."""
        digest, referenced_digests, count = sha256(), set[str](), 0
        for line in self._lines():
            digest.update(line)
        self._compare(layout.CALLS, digest.hexdigest())
        digests = set(self.pictures)
        for call, _ in self._calls():
            count += 1
            for picture in layout.list_picture_digests(call):
                if picture not in digests:
                    raise self._build_error(
                        layout.format_picture_part(picture), "an answer holds it, and it is missing"
                    )
                referenced_digests.add(picture)
        if count != self.manifest.calls:
            problem = f"it holds {count:,} calls and the manifest says {self.manifest.calls:,}"
            raise self._build_error(layout.CALLS, problem)
        return referenced_digests

    def _check_picture(self, digest: str) -> None:
        png = self.picture(digest)
        if sha256(png).hexdigest() != digest:
            raise self._build_error(
                layout.format_picture_part(digest), "its sha256 is not its name"
            )
        try:
            check_png(png)
        except BadPng as flaw:
            raise self._build_error(layout.format_picture_part(digest), str(flaw)) from None

    def _compare(self, name: str, digest: str) -> None:
        if self.manifest.parts[name].sha256 != digest:
            raise self._build_error(name, "its sha256 is not the one that the manifest says")

    def _lines(self) -> Iterator[bytes]:
        with self._translate_errors(layout.CALLS), self._archive.open(layout.CALLS) as part:
            while line := part.readline(layout.MAX_LINE_BYTES):
                if not line.endswith(b"\n"):
                    long = len(line) == layout.MAX_LINE_BYTES
                    problem = "a line is too long" if long else "the last line is cut short"
                    raise self._build_error(layout.CALLS, problem)
                yield line

    def _read(self, name: str) -> bytes:
        with self._translate_errors(name):
            return self._archive.read(name)

    @contextmanager
    def _translate_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except _UNPACKING_FAULTS as error:
            raise self._build_error(name, f"it cannot be unpacked ({error})") from error
        except OSError as error:
            raise self._build_error(
                name, f"it cannot be read ({error.strerror or error})"
            ) from error


@contextmanager
def open_cassette(path: FilePath) -> Iterator[Cassette]:
    """A cassette to read from; raises `BadCassette` where the file is none or not all of one.

    One in an object store is copied to this machine meanwhile.
    """
    try:
        with open_copy(path) as file:
            _check_end(path, file)
            with _open_archive(path, file) as archive:
                yield Cassette(path, archive)
    except OSError as error:
        raise BadCassette(
            f"{path} cannot be read ({error.strerror or error}). Name a cassette that is there and "
            "may be read; nothing was imported."
        ) from error


def _open_archive(path: FilePath, file: IO[bytes]) -> ZipFile:
    """The archive in a file; damaged, it makes zipfile raise more than its own error."""
    try:
        return ZipFile(file)
    except _OPENING_FAULTS as error:
        raise _build_error(path, "its list of parts", f"it is damaged ({error})") from error


def _check_end(path: FilePath, file: IO[bytes]) -> None:
    """Check the end of the file, before the list of its parts is read into memory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size - _LOCATOR_BYTES - _END_64.size))
    tail = file.read()
    end = tail[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\5\6"):
        raise _build_error(path, "its end", "it is cut short, or it is no cassette")
    directory = _END.unpack(end)[5]
    # As zipfile does, which believes the larger record wherever its locator stands.
    if tail.startswith(b"PK\6\6") and tail[_END_64.size :].startswith(b"PK\6\7"):
        directory = _END_64.unpack_from(tail)[8]
    if directory > layout.MAX_DIRECTORY_BYTES:
        raise _build_error(path, "its list of parts", f"it would be {directory:,} bytes")


def _find_limit(name: str) -> int | None:
    """The most bytes that a part may have, unpacked; None where there is no such part."""
    if layout.PICTURE.fullmatch(name):
        return layout.MAX_PICTURE_BYTES
    if layout.REVIEW.fullmatch(name):
        return layout.MAX_REVIEW_BYTES
    return {layout.MANIFEST: layout.MAX_MANIFEST_BYTES, layout.CALLS: layout.MAX_CALLS_BYTES}.get(
        name
    )


def _build_error(path: FilePath, part: str, problem: str) -> BadCassette:
    return BadCassette(f"{path} cannot be taken: {part}: {problem}. {_REMEDY}")

"""Pictures of collections, taken into the image store a few at a time.

What was taken before is not decoded again, unless it is gone or damaged; what could not be decoded
is tried again, since that may be due to the machine. The memory that this takes does not grow with
the number of pictures.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from resources.execution.work_loop import WorkKind, finish_work
from resources.models.replies import ImageFile
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from resources.untrusted_input.image_decoding import BadImage, decode_image
from resources.untrusted_input.png_check import read_png_size

T = TypeVar("T")
_VERSION = 1
_MOST_AT_ONCE, _BYTES_AT_ONCE = 50, 64_000_000
_LARGEST = 100_000_000
_OTHER_FORMATS: Mapping[str, re.Pattern[bytes]] = {
    "a GIF": re.compile(rb"GIF8[79]a"),
    "a BMP": re.compile(rb"BM.{4}\0{4}", re.DOTALL),
    "a TIFF": re.compile(rb"II\*\0|MM\0\*"),
    "an AVIF": re.compile(rb".{4}ftypavi[fs]", re.DOTALL),
    "a HEIC": re.compile(rb".{4}ftyphei[cx]", re.DOTALL),
}
"""First bytes of images in formats that are not taken."""


class Taken(NamedTuple):
    """The sha256 of a picture in the image store and its size in px, or why it is not there."""

    sha256: str | None = None
    width: int | None = None
    height: int | None = None
    problem: str | None = None


def take(
    pictures: Iterable[tuple[T, Path | bytes | str]], images: ImageStore, work_cache: WorkCache
) -> Iterator[tuple[T, Taken]]:
    """Store pictures in the image store; yield each in order, with its subject.

    A text stands for a picture of which it says why there is none.
    """
    batch: list[tuple[T, bytes | str]] = []
    size = 0
    for subject, picture in pictures:
        data = _load(picture)
        batch.append((subject, data))
        size += len(data)
        if len(batch) >= _MOST_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield from _take(batch, images, work_cache)
            batch, size = [], 0
    yield from _take(batch, images, work_cache)


def _take(
    batch: list[tuple[T, bytes | str]], images: ImageStore, work_cache: WorkCache
) -> Iterator[tuple[T, Taken]]:
    files = {_key(data): data for _, data in batch if isinstance(data, bytes)}
    kind: WorkKind[str, bytes, bytes | str] = WorkKind(
        load=files.__getitem__,
        work=_decode,
        store=lambda decoded: _store(images, decoded),
        find_lost=lambda results: _find_lost(results, images),
    )
    results = finish_work(kind, {key: key for key in files}, work_cache).results
    for subject, data in batch:
        yield subject, Taken(problem=data) if isinstance(data, str) else Taken(*results[_key(data)])


def _find_lost(results: Mapping[str, Any], images: ImageStore) -> list[str]:
    """Find pictures that are gone or damaged, and those that could not be decoded."""
    digests = {key: Taken(*fields).sha256 for key, fields in results.items()}
    damaged = images.find_damaged({digest for digest in digests.values() if digest is not None})
    return [key for key, digest in digests.items() if digest is None or digest in damaged]


def _key(data: bytes) -> str:
    return build_work_key("collected", _VERSION, sha256(data).hexdigest())


def _decode(data: bytes) -> bytes | str:
    """The picture as it is stored, or what is wrong with it."""
    try:
        return decode_image(ImageFile(data))
    except BadImage as error:
        return str(error)


def _store(images: ImageStore, decoded: bytes | str) -> Taken:
    if isinstance(decoded, str):
        return Taken(problem=decoded)
    return Taken(images.put(decoded), *read_png_size(decoded))


def _load(picture: Path | bytes | str) -> bytes | str:
    """The bytes of a picture, or why it cannot be taken."""
    data = _read(picture) if isinstance(picture, Path) else picture
    if isinstance(data, bytes):
        for kind, pattern in _OTHER_FORMATS.items():
            if pattern.match(data):
                name = picture if isinstance(picture, Path) else "its picture"
                return f"{name} is {kind}: convert it to JPEG, PNG or WebP"
    return data


def _read(path: Path) -> bytes | str:
    """The bytes of a file, or why there are none."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return f"{path} is no file"
        if status.st_size > _LARGEST:
            return f"{path} has more than {_LARGEST // 1_000_000} MB"
        return path.read_bytes()
    except FileNotFoundError:
        return f"{path} is not there"
    except OSError as error:
        return f"{path} cannot be read ({error.strerror or os.strerror(error.errno or 0)})"

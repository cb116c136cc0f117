"""Publication: a site is built whole beside the old one, then moved to its place."""

import errno
import hashlib
import io
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from PIL import Image

from assets.report.rendering import STATIC
from assets.report.standings import JudgeResults
from assets.report.start_page import Entry
from resources.execution.cores import count_cores

_QUALITY, _EFFORT = 80, 2


class Thumbnail(NamedTuple):
    """A picture by its sha256, to be shown with a longer side of at most `longer` px."""

    sha256: str
    longer: int

    @property
    def file(self) -> str:
        """Path in the site."""
        return f"thumbs/{self.sha256}-{self.longer}.webp"


_ABANDONED_S = 3600.0


@dataclass(frozen=True)
class Site:
    """A benchmark's site, ready to be published.

    `pages` are (path, text); `pictures` the sha256 of those that lie in the site as they are, and
    `thumbnails` those that lie there smaller, each once; `static` are files that are copied.
    `judged` is what the front page shows of each judge.
    """

    entry: Entry
    pages: Iterable[tuple[str, str]]
    pictures: Iterable[str]
    thumbnails: Iterable[Thumbnail]
    static: Sequence[Path] = ()
    metadata: Mapping[str, int] = field(default_factory=dict)
    judged: JudgeResults = field(default_factory=JudgeResults)


def publish(folder: Path, site: Site, png_of: Callable[[str], bytes]) -> Path:
    """Write a site into `folder` and return the path of its `index.html`.

    `png_of` gives the PNG of a sha256. What `folder` held before is replaced when the new site is
    whole, and not before; pictures that it already has are taken over unread by `png_of`, if their
    bytes still have the hash that they are named by, and thumbnails if they are whole.
    """
    _sweep(folder)
    new = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        _write_images(new / "images", folder / "images", site.pictures, png_of)
        _write_thumbnails(new, folder, site.thumbnails, png_of)
        for file in (*STATIC, *site.static):
            shutil.copyfile(file, new / file.name)
        for path, text in chain(site.pages, [site.entry.file, site.judged.file]):
            page = new / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
        _put_in_place(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder / "index.html"


def _sweep(folder: Path) -> None:
    """Remove what killed builds left beside `folder`, but nothing that may still be built."""
    for abandoned in folder.parent.glob(f".{escape(folder.name)}.{'[0-9a-f]' * 32}*"):
        with suppress(FileNotFoundError):
            if time.time() - abandoned.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(abandoned, ignore_errors=True)


def _write_images(
    new: Path, old: Path, hashes: Iterable[str], png_of: Callable[[str], bytes]
) -> None:
    new.mkdir(parents=True)
    for sha256 in hashes:
        name = f"{sha256}.png"
        sound = partial(_has_hash, sha256)
        if not _take_over(old / name, new / name, sound):
            (new / name).write_bytes(png_of(sha256))


def _write_thumbnails(
    new: Path, old: Path, thumbnails: Iterable[Thumbnail], png_of: Callable[[str], bytes]
) -> None:
    def write(thumbnail_spec: Thumbnail) -> None:
        if not _take_over(old / thumbnail_spec.file, new / thumbnail_spec.file, is_whole):
            (new / thumbnail_spec.file).write_bytes(
                thumbnail(png_of(thumbnail_spec.sha256), thumbnail_spec.longer)
            )

    (new / "thumbs").mkdir()
    with ThreadPoolExecutor(max_workers=count_cores()) as threads:
        list(threads.map(write, thumbnails))


def _has_hash(sha256: str, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == sha256


def _take_over(old: Path, new: Path, sound: Callable[[bytes], bool]) -> bool:
    """Give an image of the old site a second name in the new one, if it is still sound."""
    try:
        if not sound(old.read_bytes()):
            return False
        os.link(old, new)
    except OSError:  # not there, or a file system without hard links
        return False
    return True


def _put_in_place(new: Path, folder: Path) -> None:
    """Move `new` to `folder`, what stands there aside; of two builds at once the later stays."""
    old = new.with_name(f"{new.name}.old")
    while True:
        try:
            new.rename(folder)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):
            folder.rename(old)
    shutil.rmtree(old, ignore_errors=True)


def thumbnail(png: bytes, longer: int) -> bytes:
    """A WebP of the picture, made smaller where its longer side has more than `longer` px."""
    with Image.open(io.BytesIO(png)) as image:
        small = image.convert("RGB")
        small.thumbnail((longer, longer), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "WEBP", quality=_QUALITY, method=_EFFORT)
    return file.getvalue()


def is_whole(webp: bytes) -> bool:
    """True if a WebP is as long as its head says."""
    return webp[:4] == b"RIFF" and int.from_bytes(webp[4:8], "little") + 8 == len(webp)

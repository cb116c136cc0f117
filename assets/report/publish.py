"""Publication: a site is built whole, then put in the place of the old one."""

import hashlib
import io
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from PIL import Image

from assets.report.openings import Entry
from assets.report.rendering import STATIC
from assets.report.revision import Publication, content_version
from assets.report.standings import JudgeResults
from resources.execution.cores import count_cores
from resources.sites import SiteFolder, open_site
from resources.storage.atomic_writes import FilePath

_QUALITY, _EFFORT = 80, 2


class Thumbnail(NamedTuple):
    """A picture by its sha256, to be shown with a longer side of at most `longer` px."""

    sha256: str
    longer: int

    @property
    def file(self) -> str:
        """Path in the site."""
        return f"thumbs/{self.sha256}-{self.longer}.webp"


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


def publish(
    folder: FilePath,
    site: Site,
    png_of: Callable[[str], bytes],
    facts: Mapping[str, str] = MappingProxyType({}),
) -> Publication:
    """Write a site into `folder`, and return its `index.html` with the version of its content.

    `png_of` gives the PNG of a sha256. What `folder` held before is replaced when the new site is
    whole, and not before; pictures that it already has are taken over unread by `png_of`, if their
    bytes still have the hash that they are named by, and thumbnails if they are whole. The version
    leaves `facts` out, which change with the day.
    """
    site_folder = open_site(folder)
    with site_folder.build() as build:
        _write_images(build, site_folder, site.pictures, png_of)
        _write_thumbnails(build, site_folder, site.thumbnails, png_of)
        for file in (*STATIC, *site.static):
            shutil.copyfile(file, build / file.name)
        for path, text in chain(site.pages, [site.entry.file, site.judged.file]):
            page = build / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
        version = content_version(build, facts)
        site_folder.put_in_place(build)
    return Publication(folder / "index.html", version)


def _write_images(
    build: Path, site_folder: SiteFolder, hashes: Iterable[str], png_of: Callable[[str], bytes]
) -> None:
    (build / "images").mkdir()
    for sha256 in hashes:
        name = f"images/{sha256}.png"
        if not site_folder.take_over(build, name, partial(has_hash, sha256)):
            (build / name).write_bytes(png_of(sha256))


def _write_thumbnails(
    build: Path,
    site_folder: SiteFolder,
    thumbnails: Iterable[Thumbnail],
    png_of: Callable[[str], bytes],
) -> None:
    def write(thumbnail_spec: Thumbnail) -> None:
        if not site_folder.take_over(build, thumbnail_spec.file, is_whole):
            (build / thumbnail_spec.file).write_bytes(
                thumbnail(png_of(thumbnail_spec.sha256), thumbnail_spec.longer)
            )

    (build / "thumbs").mkdir()
    with ThreadPoolExecutor(max_workers=count_cores()) as threads:
        list(threads.map(write, thumbnails))


def has_hash(sha256: str, data: bytes) -> bool:
    """True if data has a sha256."""
    return hashlib.sha256(data).hexdigest() == sha256


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

"""Writing the site: built whole beside the old one, then put in its place."""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from glob import escape
from itertools import chain
from pathlib import Path
from uuid import uuid4

import pandas as pd

from assets.site.apart import accuracy_apart, accuracy_by_painter, published
from assets.site.board import Accuracy
from assets.site.costs import costs
from assets.site.edited import edited
from assets.site.endings import Endings, served
from assets.site.gather import gather
from assets.site.pages import HERE, STATIC, Site, pages, topic_titles
from resources.calls.spending import Spent

_ABANDONED_S = 3600.0


def build(
    folder: Path,
    *,
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    accuracy: pd.DataFrame,
    png_of: Callable[[str], bytes],
    title: str,
    facts: Mapping[str, str],
    references: Collection[str],
    complete: int,
    edited_tables: Collection[pd.DataFrame] = (),
    spent: Sequence[Spent] = (),
) -> Path:
    """Write the site into `folder` and return the path of its `index.html`.

    The tables have the columns of the assets of the same names, `images` those of photographs
    (empty where a picture is drawn), and `measurements` one more: `agrees`, whether the reading
    confirms the label (False where there is none), as whoever checks the labels decides.
    `png_of` gives the PNG of a sha256; `facts` are the lines of the footer; `references` names
    the judges that are no models but bracket them; `complete` is how many images the benchmark
    has when all are made; `edited_tables` are those of the writers that edited drawings, and
    `spent` is what was paid for all of it. What `folder` held before is replaced when the new
    site is whole, and not before; images that it already has are taken over unread by `png_of`,
    if their bytes still have the hash that they are named by.
    """
    scenes, judges = gather(images, measurements, questions, answers, references)
    titles = topic_titles(scenes)
    shown = Accuracy.of(published(accuracy), list(titles), references)
    named = [(name, titles[name]) for name in shown.topics]
    site = Site(
        title=title,
        facts=facts,
        titles=titles,
        scenes=scenes,
        judges=judges,
        accuracy=shown,
        apart=accuracy_apart(answers, list(titles), references),
        by_painter=accuracy_by_painter(answers, list(titles), references),
        endings=Endings.of(published(answers), named, references),
        served=served(answers, references),
        complete=complete,
        edited=edited(edited_tables, scenes),
        costs=costs(spent),
    )
    _sweep(folder)
    new = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        _write_images(new / "images", folder / "images", _hashes(site), png_of)
        for name in STATIC:
            shutil.copyfile(HERE / name, new / name)
        for path, html in pages(site):
            page = new / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(html, encoding="utf-8")
        _put_in_place(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder / "index.html"


def _sweep(folder: Path) -> None:
    """Remove what killed builds left beside `folder`, but nothing that may still be built."""
    for left in folder.parent.glob(f".{escape(folder.name)}.{'[0-9a-f]' * 32}*"):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(left, ignore_errors=True)


def _hashes(site: Site) -> Iterable[str]:
    """The sha256 of every picture on the pages, each once."""
    pictures = (picture.sha256 for scene in site.scenes for picture in scene.pictures)
    shown = (each.sha256 for scene in site.scenes for many in scene.shown.values() for each in many)
    return dict.fromkeys(chain(pictures, shown, site.edited.hashes if site.edited else ()))


def _write_images(
    new: Path, old: Path, hashes: Iterable[str], png_of: Callable[[str], bytes]
) -> None:
    new.mkdir(parents=True)
    for sha256 in hashes:
        name = f"{sha256}.png"
        if not _take_over(old / name, new / name, sha256):
            (new / name).write_bytes(png_of(sha256))


def _take_over(old: Path, new: Path, sha256: str) -> bool:
    """Give an image of the old site a second name in the new one, if it is still sound."""
    try:
        if hashlib.sha256(old.read_bytes()).hexdigest() != sha256:
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

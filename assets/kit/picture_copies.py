"""Pictures beside the pages and sheets that show them."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from upath import UPath

from resources.execution.workers import map_in_threads
from resources.storage.atomic_writes import is_remote, to_local_path, write_atomically
from resources.storage.files import list_folder, make_folder
from resources.storage.image_store import ImageStore

FOLDER = "images"


def place_pictures(folder: UPath, digests: Iterable[str], images: ImageStore) -> None:
    """Put pictures into `images` below a folder, once each, under their sha256.

    They are links where folder and image store lie on one disk, else copies.
    """
    place = folder / FOLDER
    make_folder(place)
    existing = {path.stem for path in list_folder(place)}
    missing = [digest for digest in dict.fromkeys(digests) if digest not in existing]
    for _ in map_in_threads(partial(_place, place, images), missing):
        pass


def format_picture_name(digest: str) -> str:
    """The path of a picture from the folder that it was placed in."""
    return f"{FOLDER}/{digest}.png"


def _place(place: UPath, images: ImageStore, digest: str) -> None:
    path, source = place / f"{digest}.png", images.path(digest)
    if not is_remote(path) and not is_remote(source):
        with suppress(OSError):
            os.link(to_local_path(source), to_local_path(path))
            return
    write_atomically(path, images.get(digest))

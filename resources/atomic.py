"""Files that are whole or not there."""

import os
from uuid import uuid4

from upath import UPath

from resources.faults import writing


def write_whole(path: UPath, data: bytes) -> None:
    """Write `data` to `path` under a temporary name, flush it and rename it into place.

    A reader sees the old file or the new one, never a part. Raises `Unwritable` or `Full`.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

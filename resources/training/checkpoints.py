"""Checkpoints: which are whole, so that a killed process goes on at the last of these."""

import os
import shutil
from pathlib import Path

_WHOLE = "whole"
"""The file that a checkpoint gets once all others of it are on the disk."""


def mark_complete(checkpoint: Path) -> None:
    """Say that a checkpoint, or an adapter, is whole, once its files are on the disk."""
    for path in sorted(checkpoint.rglob("*")):
        if path.is_file():
            _sync(path)
    (checkpoint / _WHOLE).touch()
    _sync(checkpoint)


def find_last_checkpoint(folder: Path) -> Path | None:
    """The last whole checkpoint; what a killed process left of others is removed."""
    checkpoints = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    for path in checkpoints:
        if not (path / _WHOLE).exists():
            shutil.rmtree(path)
    complete = [path for path in checkpoints if path.exists()]
    return complete[-1] if complete else None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Weights of a model on this machine: where they lie, how many there are, and their identity.

All of it is read off files: nothing is loaded, and no torch is needed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

_ONE, _INDEX = "model.safetensors", "model.safetensors.index.json"


class NoWeights(ValueError):
    """A model's weights are not on this machine; the message says what is missing."""


class Weights(NamedTuple):
    """Those in a folder; `parameters` counts numbers, `size` bytes."""

    folder: Path
    files: tuple[Path, ...]
    parameters: int
    size: int

    @property
    def digest(self) -> str:
        """The sha256 of all of them, by which a base is known whatever its folder is called."""
        return _digest(tuple((path, *_state(path)) for path in self.files))

    def shapes(self) -> Iterator[tuple[str, Sequence[int]]]:
        """The names of tensors with their shapes."""
        for path in self.files:
            for name, tensor in _header(path).items():
                yield name, tensor["shape"]


def weights_in(folder: Path) -> Weights:
    """The safetensors weights in a folder; raises `NoWeights` where a file is missing."""
    files = tuple(folder / name for name in _names(folder))
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise NoWeights(f"{folder} lacks {', '.join(missing)}")
    tensors = [tensor for path in files for tensor in _header(path).values()]
    return Weights(
        folder,
        files,
        parameters=sum(prod(tensor["shape"]) for tensor in tensors),
        size=sum(end - start for start, end in (each["data_offsets"] for each in tensors)),
    )


def _names(folder: Path) -> list[str]:
    index = folder / _INDEX
    if not index.is_file():
        return [_ONE]
    return sorted(set(json.loads(index.read_text())["weight_map"].values()))


def _header(path: Path) -> Mapping[str, Any]:
    """What a file says of each of its tensors: shape, type and place."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        found: dict[str, Any] = json.loads(file.read(length))
    found.pop("__metadata__", None)
    return found


def _state(path: Path) -> tuple[int, int]:
    told = path.stat()
    return told.st_size, told.st_mtime_ns


@lru_cache(maxsize=16)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = sha256()
    for path, *_ in files:
        with path.open("rb") as file:
            file_digest(file, lambda: digest)
    return digest.hexdigest()

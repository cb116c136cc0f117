"""Weights of a model on this machine: where they lie, how many there are, and their identity.

All of it is read off files: nothing is loaded, and no torch is needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter

from resources.untrusted_input.json_text import parse_untrusted

_ONE, _INDEX = "model.safetensors", "model.safetensors.index.json"

_MAX_HEADER_BYTES = 50_000_000
"""Size of a header or an index; those of 100,000 tensors have 10 MB."""
_FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]


class _Index(BaseModel):
    weight_map: dict[str, _FileName] = Field(min_length=1)


class _Tensor(BaseModel):
    shape: list[Annotated[int, Field(ge=0, le=2**40)]]
    data_offsets: tuple[int, int]


_Object = TypeAdapter(dict[str, Any])
_Tensors = TypeAdapter(dict[str, _Tensor])


class NoWeights(ValueError):
    """A model's weights are not on this machine; the message says what is missing."""


class Weights(NamedTuple):
    """Weights in a folder; `parameters` counts numbers, `size` bytes."""

    folder: Path
    files: tuple[Path, ...]
    parameters: int
    size: int

    @property
    def digest(self) -> str:
        """The sha256 of all of them, by which a base is known whatever its folder is called."""
        return _digest(tuple((path, *_state(path)) for path in self.files))

    def iterate_shapes(self) -> Iterator[tuple[str, Sequence[int]]]:
        """The names of tensors with their shapes."""
        for path in self.files:
            yield from read_shapes(path)


def read_shapes(path: Path) -> Iterator[tuple[str, Sequence[int]]]:
    """The names of a safetensors file's tensors with their shapes; raises `NoWeights`."""
    for name, tensor in _header(path).items():
        yield name, tensor.shape


def find_weights(folder: Path) -> Weights:
    """The safetensors weights in a folder; raises `NoWeights` where a file is missing."""
    files = tuple(folder / name for name in _names(folder))
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise NoWeights(f"{folder} lacks {', '.join(missing)}")
    tensors = [tensor for path in files for tensor in _header(path).values()]
    return Weights(
        folder,
        files,
        parameters=sum(prod(tensor.shape) for tensor in tensors),
        size=sum(end - start for start, end in (tensor.data_offsets for tensor in tensors)),
    )


def _names(folder: Path) -> list[str]:
    index = folder / _INDEX
    if not index.is_file():
        return [_ONE]
    if index.stat().st_size > _MAX_HEADER_BYTES:
        raise NoWeights(f"{index} has more than {_MAX_HEADER_BYTES:,} bytes")
    try:
        return sorted(
            set(_Index.model_validate(parse_untrusted(index.read_bytes())).weight_map.values())
        )
    except ValueError as error:
        raise NoWeights(f"{index} cannot be read: {_first_line(error)}") from None


def _header(path: Path) -> Mapping[str, _Tensor]:
    """Read the tensors that a file declares: shape, type and place."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MAX_HEADER_BYTES:
            raise NoWeights(f"{path} is no file of safetensors")
        header = file.read(length)
    try:
        tensors = _Object.validate_python(parse_untrusted(header))
        tensors.pop("__metadata__", None)
        return _Tensors.validate_python(tensors)
    except ValueError as error:
        raise NoWeights(f"{path} is no file of safetensors: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _state(path: Path) -> tuple[int, int]:
    file_stat = path.stat()
    return file_stat.st_size, file_stat.st_mtime_ns


@lru_cache(maxsize=16)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = sha256()
    for path, *_ in files:
        with path.open("rb") as file:
            file_digest(file, lambda: digest)
    return digest.hexdigest()

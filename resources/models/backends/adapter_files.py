"""Files of adapters, which come from others: bounded and validated before PEFT reads them.

A config of PEFT decides how much memory its layers take, and holds regular expressions, some of
which take longer than the age of the universe.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from textwrap import shorten
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from resources.models.backends.local_models import import_library
from resources.storage.atomic_writes import FilePath
from resources.storage.files import open_file
from resources.untrusted_input.json_text import BadJson, parse_untrusted
from resources.user_files.validation_messages import format_validation_error

MAX_BYTES = 4_000_000
"""Size of a config or a record; those of real adapters have a few KB."""
MAX_RANK = 4096
"""Rank of a LoRA layer; papers use up to 1,024."""
MAX_REASON = 300
"""Characters of what is wrong with a file: it may quote what stands there."""
MATCHING_S = 5.0
"""Seconds for a regular expression to match all layers' names; a usual one takes 0.01."""

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.]*$", max_length=500)]
_FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=200)]
_Names = Annotated[list[_Name], Field(max_length=10_000)]
_Rank = Annotated[int, Field(ge=1, le=MAX_RANK)]
_Scale = Annotated[float, Field(gt=0, le=1e6)]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Shape = TypeVar("Shape", bound=BaseModel)


class BadAdapterFile(ValueError):
    """A file of an adapter that is not taken; the message says why."""


class LoraFields(BaseModel):
    """The fields of a LoRA config that are taken; others have to be PEFT's defaults."""

    model_config = ConfigDict(strict=True, extra="allow")

    peft_type: Literal["LORA"]
    base_model_name_or_path: str | None = None
    revision: str | None = None
    task_type: Literal["CAUSAL_LM", "SEQ_2_SEQ_LM", "FEATURE_EXTRACTION"] | None = None
    r: _Rank = 8
    target_modules: _Names | Annotated[str, Field(max_length=1000)]
    lora_alpha: _Scale = 8
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    fan_in_fan_out: bool = False
    bias: Literal["none", "all", "lora_only"] = "none"
    lora_bias: bool = False
    use_rslora: bool = False
    use_dora: bool = False
    modules_to_save: _Names | None = None
    rank_pattern: dict[_Name, _Rank] | None = None
    alpha_pattern: dict[_Name, _Scale] | None = None

    def require_ranks(self, shapes: Iterable[tuple[str, Sequence[int]]]) -> None:
        """Raise `BadAdapterFile` where layers would be larger than the weights that fill them."""
        ranks = {min(shape) for name, shape in shapes if ".lora_" in name and len(shape) > 1}
        rank = max([self.r, *(self.rank_pattern or {}).values()])
        if rank > max(ranks, default=0):
            raise BadAdapterFile(
                f"`r` is {rank:,}, and its weights have rank {max(ranks, default=0):,}"
            )

    def to_config(self, layers: Iterable[str]) -> Any:
        """PEFT's own config for a network with layers of these names. Raises `BadAdapterFile`."""
        peft = import_library("peft")
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        defaults = _default_fields()
        for name, value in (self.model_extra or {}).items():
            is_default = not value or name in _REMARKS or value == defaults.get(name, value)
            if not is_default and not (name == "init_lora_weights" and value == "gaussian"):
                raise BadAdapterFile(f"`{name}` is set, which is not taken: save it without")
        del fields["peft_type"]
        for name in ("rank_pattern", "alpha_pattern"):
            fields[name] = fields[name] or {}
        targets = self.target_modules
        if isinstance(targets, str) and targets != "all-linear":
            fields["target_modules"] = _match_names(targets, layers)
        return peft.LoraConfig(**fields, inference_mode=True)


_REMARKS = ("auto_mapping", "inference_mode", "peft_version")


class AdapterBase(BaseModel):
    """The model that an adapter was trained for, as its record names it."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str
    revision: str | None
    sha256: _Digest


class RecordFields(BaseModel):
    """The fields of a record that anything reads, by their types; others are left as they are."""

    model_config = ConfigDict(strict=True, extra="allow")

    base: AdapterBase
    weights: _Digest
    files: dict[_FileName, _Digest]
    kind: str
    data: str
    recipe: dict[str, Any]
    wording: str
    trained: dict[str, Any]
    versions: dict[str, str]
    is_stand_in: bool = False
    painters: list[str] = []
    trained_on: list[str] = []


def read_fields(path: FilePath, shape: type[Shape]) -> dict[str, Any]:
    """The JSON object in a file, once it has the fields of a shape. Raises `BadAdapterFile`."""
    try:
        with open_file(path) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise BadAdapterFile(f"it has more than {MAX_BYTES:,} bytes")
        value = parse_untrusted(data)
        shape.model_validate(value)
    except ValidationError as error:
        text = format_validation_error(error.errors(include_url=False)[0], shape)
        raise BadAdapterFile(shorten(text, MAX_REASON)) from None
    except (BadJson, OSError) as error:
        raise BadAdapterFile(str(error)) from None
    return dict(value)


@cache
def _default_fields() -> dict[str, Any]:
    return dict(import_library("peft").LoraConfig().to_dict())


def _match_names(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a regular expression matches. Raises `BadAdapterFile`."""
    regex = import_library("regex")
    try:
        re.compile(pattern)
        compiled = regex.compile(pattern)
        matches = [name for name in names if compiled.fullmatch(name, timeout=MATCHING_S)]
    except (re.error, regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise BadAdapterFile(f"`target_modules` is no regular expression ({error})") from None
    except TimeoutError:
        raise BadAdapterFile(
            f"`target_modules` takes more than {MATCHING_S:.0f} s to match the layers: list them"
        ) from None
    if not matches:
        raise BadAdapterFile("`target_modules` matches no layer")
    return matches

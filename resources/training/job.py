"""A job: all that the process that trains is told, as a JSON file."""

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from upath import UPath

from resources.atomic_writes import write_whole
from resources.training.recipe import Recipe

Kind = Literal["ranking", "margin", "tuning"]

_NOT_DECIDING = ("checkpoint_every", "accelerate_config", "regardless")
"""Fields of a recipe by which the adapter does not change, but for the number of processes."""


@dataclass(frozen=True)
class Base:
    """The model that is adapted: its id or folder, its commit on the Hub, and its weights."""

    model: str
    revision: str | None
    sha256: str


@dataclass(frozen=True)
class Job:
    """One training; `rows` is a Parquet file of what is trained on, `images` the store's root.

    `data` is the digest of the rows. `told` is what the record says besides.
    """

    name: str
    kind: Kind
    base: Base
    recipe: dict[str, Any]
    rows: str
    data: str
    images: str
    folder: str
    told: dict[str, Any] = field(default_factory=dict)

    def write(self) -> Path:
        """Write it into its folder, for `read`."""
        path = Path(self.folder) / "job.json"
        write_whole(UPath(path), json.dumps(asdict(self), indent=2).encode())
        return path


def read(path: Path) -> Job:
    """The job in a file."""
    found = json.loads(path.read_text())
    return Job(**{**found, "base": Base(**found["base"])})


def digest_of(kind: Kind, base: Base, recipe: Recipe, data: str, processes: int = 1) -> str:
    """What tells trainings apart that give other adapters: 12 hexadecimal digits."""
    deciding = {k: v for k, v in recipe.model_dump().items() if k not in _NOT_DECIDING}
    for name in ("base", "revision"):
        del deciding[name]
    several = [processes] if processes > 1 else []
    said = json.dumps([kind, base.sha256, deciding, data, *several], sort_keys=True)
    return sha256(said.encode()).hexdigest()[:12]

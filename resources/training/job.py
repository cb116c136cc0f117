"""A job: all that the process that trains is told, as a JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from upath import UPath

from resources.atomic_writes import write_whole
from resources.models.backends.scoring.expected import PROMPT
from resources.models.backends.scoring.vqa import ANSWER, QUESTION

Kind = Literal["ranking", "margin", "tuning"]
NOT_YES = "No"
"""What a picture is labelled with, for the margin loss, that does not fit; it is not learned."""
_ROWS = "a row's question; its answer, and the token that ends it"
"""The wording of fine-tuning."""
NOT_DECIDING = ("base", "revision", "checkpoint_every", "accelerate_config", "regardless")
"""Fields of a recipe by which the adapter does not change, but for its base's weights and the
number of processes."""


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


class Terms(NamedTuple):
    """What decides which adapter a training gives: trainings that differ in it are two."""

    kind: Kind
    base: str
    """The sha256 of its weights."""
    recipe: dict[str, Any]
    data: str
    processes: int
    wording: str
    """Digest of what is asked about each text."""

    @property
    def digest(self) -> str:
        """12 hexadecimal digits."""
        return _short(json.dumps(self, sort_keys=True))

    def differing(self, other: "Terms") -> list[str]:
        """The names of what another has otherwise."""
        ours, theirs = ({**each.recipe, **each._asdict()} for each in (self, other))
        return [name for name in ours if name != "recipe" and ours[name] != theirs.get(name)]


def terms(kind: Kind, base: str, recipe: Mapping[str, Any], data: str, processes: int) -> Terms:
    """The terms of a training by these words; `base` is the sha256 of its weights."""
    deciding = {name: of for name, of in recipe.items() if name not in NOT_DECIDING}
    return Terms(kind, base, deciding, data, processes, _short(wording(kind)))


def terms_in(record: Mapping[str, Any]) -> Terms:
    """The terms of a published adapter, by its record."""
    base, processes = record["base"]["sha256"], record["trained"]["processes"]
    known = terms(record["kind"], base, record["recipe"], record["data"], processes)
    return known._replace(wording=_short(record["wording"]))


def wording(kind: Kind) -> str:
    """What is asked about each text; in fine-tuning that stands in the rows."""
    control = "\n".join((QUESTION, ANSWER, NOT_YES))
    return {"ranking": PROMPT, "margin": control, "tuning": _ROWS}[kind]


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]

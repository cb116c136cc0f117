"""The roster: which judges and metrics there are, and what fills the cells of what was not run.

It is written beside the sites by the asset that knows the models and what asking them would cost;
a report that rewrites the front page keeps it with its date.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import TypeAdapter
from upath import UPath

from assets.report.conditions import Conditions
from resources.storage.atomic_writes import FilePath, write_atomically
from resources.storage.files import read_file

FILE = "roster.json"
NOTHING_TO_PAY = "nothing to pay"
"""The price of a gap whose answers are all there."""

Kind: TypeAlias = Literal["judge", "metric", "stand_in"]


@dataclass(frozen=True)
class Listed:
    """A judge or metric as models.yaml names it; a `stand_in` judge is no model.

    `description` says which model it is.
    """

    name: str
    kind: Kind
    description: str


@dataclass(frozen=True)
class Planned:
    """A benchmark that there is, whether or not its report has been made: its folder and title."""

    folder: str
    title: str


@dataclass(frozen=True)
class Gap:
    """A command that fills an empty cell, and its cost in words.

    A benchmark that has nothing for such a model has neither; one that no command fills has none.
    """

    command: str
    price: str
    details: str = ""


@dataclass(frozen=True)
class Roster:
    """Judges, metrics and benchmarks, with the gaps by judge and folder, as of a day."""

    date: str = ""
    judges: Sequence[Listed] = ()
    benchmarks: Sequence[Planned] = ()
    gaps: Mapping[str, Mapping[str, Gap]] = field(default_factory=dict)
    conditions: Mapping[str, Sequence[Conditions]] = field(default_factory=dict)
    """The conditions of the answers, by judge."""

    def write(self, folder: FilePath) -> None:
        """Write it into the folder in which the sites lie."""
        write_atomically(UPath(folder / FILE), _JSON.dump_json(self, indent=1) + b"\n")

    @classmethod
    def read(cls, folder: FilePath) -> "Roster":
        """Read the roster that was written last; an empty one where there is none."""
        try:
            return _JSON.validate_json(read_file(folder / FILE))
        except FileNotFoundError:
            return cls()


_JSON = TypeAdapter(Roster)

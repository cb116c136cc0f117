"""The roster: which judges and metrics there are, and what fills the cells of what was not run.

It is written beside the sites by the asset that knows the models and what asking them would cost;
a report that rewrites the front page keeps it with its date.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from upath import UPath

from resources.atomic_writes import write_whole

FILE = "roster.json"

Kind: TypeAlias = Literal["judge", "metric", "reference"]


class Listed(NamedTuple):
    """A judge or metric as models.yaml names it; a `reference` judge is no model.

    `told` says which model it is.
    """

    name: str
    kind: Kind
    told: str


class Planned(NamedTuple):
    """A benchmark that there is, whether or not its report has been made: its folder and title."""

    folder: str
    title: str


class Gap(NamedTuple):
    """What would fill an empty cell: the command, and what it would cost, in words.

    A benchmark that has nothing for such a model has no command.
    """

    command: str
    price: str
    told: str = ""


class Roster(NamedTuple):
    """All of them, with the gaps by judge and then by the benchmark's folder, as of a day."""

    date: str = ""
    judges: Sequence[Listed] = ()
    benchmarks: Sequence[Planned] = ()
    gaps: Mapping[str, Mapping[str, Gap]] = MappingProxyType({})

    def write(self, folder: Path) -> None:
        """Write it into the folder in which the sites lie."""
        told = {
            "date": self.date,
            "judges": [each._asdict() for each in self.judges],
            "benchmarks": [each._asdict() for each in self.benchmarks],
            "gaps": {
                judge: {name: gap._asdict() for name, gap in held.items()}
                for judge, held in self.gaps.items()
            },
        }
        text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
        write_whole(UPath(folder / FILE), text.encode())

    @classmethod
    def read(cls, folder: Path) -> "Roster":
        """What was written last; an empty one where there is none."""
        try:
            told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        return cls(
            told["date"],
            [Listed(**each) for each in told["judges"]],
            [Planned(**each) for each in told["benchmarks"]],
            {
                judge: {name: Gap(**gap) for name, gap in held.items()}
                for judge, held in told["gaps"].items()
            },
        )

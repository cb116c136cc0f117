"""Tables as rows, and the judges that they name."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

REFERENCE_JUDGES = {
    "prior": "answers what is expected of the subject and never looks",
    "pixels": "answers what is measured in the pixels of the image",
    "random": "tosses a coin, or names a count near the expected one",
}
"""The judges that need no model and bracket every real one (VLMBias: reference judges)."""

BASELINE = "baseline"

Row: TypeAlias = Any
"""One row of a table as a named tuple: its type is made of the table's columns."""


class Judge(NamedTuple):
    """A model under one way of prompting it."""

    model: str
    prompting: str

    @property
    def name(self) -> str:
        """The model's name, with the prompting where that is not the baseline."""
        return self.model if self.prompting == BASELINE else f"{self.model} ({self.prompting})"

    @property
    def reference(self) -> str:
        """What a reference judge does; empty for a real model."""
        return REFERENCE_JUDGES.get(self.model, "")


def rows(frame: pd.DataFrame) -> Iterator[Row]:
    """The rows of a table as named tuples, None standing for what is missing."""
    return frame.astype(object).where(frame.notna(), None).itertuples(index=False, name="Row")


def judges_of(found: Iterable[Row]) -> list[Judge]:
    """Every judge of some rows, in order."""
    return in_order({Judge(row.model, row.prompting) for row in found})


def in_order(judges: Iterable[Judge]) -> list[Judge]:
    """Real models first, then the reference judges, each by name."""
    return sorted(judges, key=lambda judge: (bool(judge.reference), judge))

"""Tables as rows."""

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

import pandas as pd

Row: TypeAlias = Any
"""One row of a table as a named tuple: its type is made of the table's columns."""


def rows(frame: pd.DataFrame, columns: Collection[str] = ()) -> Iterator[Row]:
    """The rows of a table as named tuples of some columns or all, None for what is missing."""
    chosen = frame[list(columns)] if columns else frame
    return chosen.astype(object).where(chosen.notna(), None).itertuples(index=False, name="Row")

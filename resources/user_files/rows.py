"""Rows of a user's table, their check against a model, and errors that name every wrong row."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails

from generators.name_suggestions import suggest_names

MAX_PROBLEMS = 20
"""Problems that an error lists; it counts the others."""
_LONGEST_VALUE = 40

Value = TypeVar("Value")
Cells = TypeVar("Cells", bound="RowCells")


class UserFileError(ValueError):
    """A user's file cannot be used; the message names the file, the place and the remedy."""


class BadRow(ValueError):
    """A row cannot be used; the message says why."""


class Row(NamedTuple):
    """A row: its cells by column, or the `problem` for which it has none.

    `number` starts at 1; `place` names the row in messages, as in "line 8".
    """

    number: int
    place: str
    cells: Mapping[str, Any] = {}
    problem: str | None = None
    name: str | None = None
    """Name that the table itself gives the row."""


@dataclass(frozen=True, kw_only=True)
class TableFormat:
    """Expected form of a table."""

    columns: Sequence[str] = ()
    """Columns that the table must have; rows of JSON may lack some."""
    heads: Sequence[str] = ()
    """Column names of a table in text without a line that names them."""
    encoding: str | None = None
    """Encoding of text. Default: UTF-8, and no message proposes another."""
    is_sheet: bool = False
    """Whether CSV cells are stripped, and lose the apostrophe that marks text in spreadsheets."""
    remedy: str = "Name a file that exists."
    """Remedy for a file that does not exist."""


def _require_text(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError("is empty, or no text")
    return text


def _to_number(value: Any) -> Any:
    """A cell that is to be a number; None if it is empty."""
    if isinstance(value, bool):
        raise ValueError(f"is {value}, and has to be a number")
    return None if isinstance(value, str) and not value.strip() else value


Text: TypeAlias = Annotated[str, AfterValidator(_require_text)]
"""A text that is not empty."""
Whole: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, lt=10**18)] | None, BeforeValidator(_to_number)
]
"""A whole number from 0, or None."""


Number: TypeAlias = Annotated[float, BeforeValidator(_to_number), AllowInfNan(False)]
"""A finite number."""


class RowCells(BaseModel):
    """Cells that a kind of table has in each row; other columns are ignored."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)


def to_cells(row: Row, model: type[Cells]) -> Cells:
    """The checked cells of a row. Raises `BadRow` with all that is wrong."""
    if row.problem is not None:
        raise BadRow(row.problem)
    try:
        return model.model_validate(row.cells)
    except ValidationError as error:
        problems = (_describe(problem, model) for problem in error.errors(include_url=False))
        raise BadRow("; ".join(dict.fromkeys(problems))) from None


def number_rows(values: Iterable[Any], noun: str) -> Iterator[Row]:
    """Values of a JSON list as rows, with places as in "item 3"."""
    for number, cells in enumerate(values, 1):
        is_object = isinstance(cells, Mapping)
        problem = None if is_object else "it is no JSON object"
        yield Row(
            number=number,
            place=f"{noun} {number:,}",
            cells=cells if is_object else {},
            problem=problem,
        )


def require_columns(path: object, names: Sequence[str], table_format: TableFormat) -> None:
    """Raise `UserFileError` unless a table has all required columns, and none twice."""
    for name in filter(None, names):
        if list(names).count(name) > 1:
            raise UserFileError(f"{path}: column {name!r} is listed twice. Rename one.")
    missing = [name for name in table_format.columns if name not in names]
    if missing:
        alternatives = suggest_names(missing[0] if len(missing) == 1 else "", names)
        raise UserFileError(f"{path}: no column {', '.join(map(repr, missing))}{alternatives}.")


def build_all(path: object, rows: Iterable[Row], build: Callable[[Row], Value]) -> list[Value]:
    """Build a value of each row. Raises `UserFileError` with all rows for which `build` fails.

    `build` raises `BadRow`.
    """
    values: list[Value] = []
    problems: list[str] = []
    for row in rows:
        try:
            values.append(build(row))
        except BadRow as problem:
            problems.append(f"{path}, {row.place}: {problem}.")
    require_none(path, problems)
    return values


def require_none(source: object, problems: Sequence[str]) -> None:
    """Raise `UserFileError` with the first of a source's problems, if there are any.

    Each problem names its file and place.
    """
    if len(problems) == 1:
        raise UserFileError(problems[0])
    if problems:
        more = len(problems) - MAX_PROBLEMS
        lines = [*problems[:MAX_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
        head = f"{source} has {len(problems):,} rows with errors."
        raise UserFileError("\n  ".join([head, *lines]))


def _describe(error: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe an error of validating cells, with the column, the value and what to write."""
    name = ".".join(map(str, error["loc"]))
    value = repr(error["input"])
    value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    if error["type"] == "missing":
        return f"it has no `{name}`"
    if error["type"] == "extra_forbidden":
        return f"`{name}` is no column{suggest_names(name, model.model_fields)}"
    if error["input"] is None:
        return f"`{name}` is empty"
    if error["type"] == "value_error":
        return f"`{name}` {error['ctx']['error']}" if name else str(error["ctx"]["error"])
    if error["type"] == "literal_error":
        choices = re.findall(r"'(.*?)'", error["ctx"]["expected"])
        otherwise = ", or leave it empty" if "" in choices else ""
        nearest = suggest_names(str(error["input"]), filter(None, choices))
        return f"`{name}` is {value}{nearest}{otherwise}"
    return f"`{name}` is {value}: {error['msg'].replace('Input should be', 'write')}"

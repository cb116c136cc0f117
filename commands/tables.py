"""Tables on the terminal."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDE = 240


def build_console(*, errors: bool = False) -> "Console":
    """The terminal; wide where it is a file or a pipe, so that no line is broken."""
    from rich.console import Console

    stream = sys.stderr if errors else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else _WIDE, highlight=False)


def build_table(*heads: str, title: str | None = None) -> "Table":
    """An empty table of those columns; one whose head ends with ">" is aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for head in heads:
        right = head.endswith(">")
        table.add_column(head.removesuffix(">"), justify="right" if right else "left")
    return table


def print_table(table: "Table") -> None:
    """Print it to standard output."""
    build_console().print(table)

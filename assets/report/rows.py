"""Rows of a benchmark's table, which pages look up by their values."""

from typing import Any

from assets.kit.step_run import Row


class Rows(list[Row]):
    """Rows in their order, None for what is empty."""

    def select(self, **values: object) -> "Rows":
        """The rows that have all of some values."""
        return Rows(row for row in self if all(row[name] == values[name] for name in values))

    def find(self, **values: object) -> Row | None:
        """The first row that has all of some values; None without any."""
        return next(iter(self.select(**values)), None)

    def distinct(self, name: str) -> list[Any]:
        """The values of a column, each once, in their order."""
        return list(dict.fromkeys(row[name] for row in self))

"""Money: what every asset says of what it cost, and the table of all costs."""

from assets.money.metadata import cost_metadata

__all__ = ["cost_metadata"]

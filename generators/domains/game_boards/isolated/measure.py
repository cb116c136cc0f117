"""Counts the lines of a board, or the rows and columns between them, as on a ruled board."""

from generators.domains.game_boards.measure import VERSION, measure, measure_legibility

__all__ = ["VERSION", "measure", "measure_legibility"]

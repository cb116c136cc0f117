"""Grids of dice faces or tally marks in which one cell breaks the pattern (VLMBias, App. I)."""

TITLE = "Patterned grids"
CAPTION = "{subject} grid"

"""Quotes: what it would cost to materialize assets now, before anything is sent.

chosen = choose(assets, planners, instance, 'kind:"judge"', ["flags"])
print(text(quote(planners, sources, chosen.tasks), chosen.silent))
"""

from assets.planning.cells import Cell, Cells, Unmade
from assets.planning.choice import CannotQuote, Chosen, Task, choose, choose_all
from assets.planning.job import quote_job
from assets.planning.lines import Line, Quote, quote
from assets.planning.prices import Amount
from assets.planning.rendering import markdown, text

__all__ = [
    "Amount",
    "CannotQuote",
    "Cell",
    "Cells",
    "Chosen",
    "Line",
    "Quote",
    "Task",
    "Unmade",
    "choose",
    "choose_all",
    "markdown",
    "quote",
    "quote_job",
    "text",
]

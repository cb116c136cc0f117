"""Quotes: what it would cost to materialize assets now, before anything is sent.

chosen = choose(assets, planners, instance, 'kind:"judge"', ["flags"])
print(text(quote(planners, sources, chosen.tasks), chosen.silent))
"""

from assets.planning.cell_quotes import CellQuote, CellQuotes, Prerequisite
from assets.planning.job import build_quote_job
from assets.planning.lines import Quote, QuoteLine, quote_tasks
from assets.planning.prices import Amount
from assets.planning.quote_selection import (
    CannotQuote,
    QuoteSelection,
    Task,
    select_all_tasks,
    select_quoted_tasks,
)
from assets.planning.quote_text import format_markdown, format_text

__all__ = [
    "Amount",
    "CannotQuote",
    "CellQuote",
    "CellQuotes",
    "Prerequisite",
    "Quote",
    "QuoteLine",
    "QuoteSelection",
    "Task",
    "build_quote_job",
    "format_markdown",
    "format_text",
    "quote_tasks",
    "select_all_tasks",
    "select_quoted_tasks",
]

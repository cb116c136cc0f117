"""The report's pages: what each judge's score can be moved by, and the pictures that moved it."""

from assets.frame.pages.report import REPORT
from assets.frame.pages.source_page import ScoredSource

__all__ = ["REPORT", "ScoredSource"]

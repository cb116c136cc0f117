"""The report's pages: what each judge gives its own captions and its family's, and panels."""

from assets.philautia.pages.dataset_page import ComparedDataset
from assets.philautia.pages.report import REPORT

__all__ = ["REPORT", "ComparedDataset"]

"""The report's pages: what is answered right with its negation, and under which perturbations."""

from assets.vhexpansion.pages.dataset_page import AnsweredDataset
from assets.vhexpansion.pages.mitigation import MitigationTable
from assets.vhexpansion.pages.report import REPORT

__all__ = ["REPORT", "AnsweredDataset", "MitigationTable"]

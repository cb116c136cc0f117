"""The report's pages: what is answered right with its negation, and under which perturbations."""

from assets.vhexpansion.pages.build import build
from assets.vhexpansion.pages.dataset_page import Answered
from assets.vhexpansion.pages.mitigation import Mitigation

__all__ = ["Answered", "Mitigation", "build"]

"""The report's pages: what is answered right with its negation, and under which perturbations."""

from assets.vhexpansion.pages.answered import Answered
from assets.vhexpansion.pages.build import build

__all__ = ["Answered", "build"]

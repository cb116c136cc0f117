"""The pages of VLMBias's report."""

from assets.vlmbias.pages.report import build

__all__ = ["build"]

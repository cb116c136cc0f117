"""The pages of VLMBias's report."""

from assets.vlmbias.pages.build import build

__all__ = ["build"]

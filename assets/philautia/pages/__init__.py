"""The report's pages: what each judge gives its own captions and its family's, and panels."""

from assets.philautia.pages.build import build
from assets.philautia.pages.dataset_page import Compared

__all__ = ["Compared", "build"]

"""The report's pages: what each judge gives its own captions, its family's, and panels of judges."""

from assets.philautia.pages.build import build
from assets.philautia.pages.dataset_page import Compared

__all__ = ["Compared", "build"]

"""The report on metrics and judges as a static site that opens from the file system.

`build` turns tables into pages and knows nothing of where tables and pictures are kept. What all
benchmarks' sites share is `assets.report`.
"""

from assets.protobias.pages.build import build
from assets.protobias.pages.painter import Painted

__all__ = ["Painted", "build"]

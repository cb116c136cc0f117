"""The report as a static site: one folder of plain files that opens from the file system.

`build` turns tables into pages and knows nothing of where tables and images are kept, so that
any benchmark that fills the same columns gets the same site.
"""

from assets.report.build import build

__all__ = ["build"]

"""The pages of VLMBias's report.

`build` turns tables into a site and knows nothing of where tables and images are kept. What all
benchmarks' sites share is `assets.report`.
"""

from assets.vlmbias.pages.build import build

__all__ = ["build"]

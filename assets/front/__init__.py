"""The front page of all reports, made last: it knows the models, and what asking them would cost.

A report rewrites the page as well, of the sites that lie there and of the roster that this wrote.
"""

from assets.front.page import FRONT_PAGE, build_front_page

__all__ = ["FRONT_PAGE", "build_front_page"]

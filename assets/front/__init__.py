"""The front page of all reports, made last: it knows the models, and what asking them would cost.

A report rewrites the page as well, of the sites that lie there and of the roster that this wrote.
"""

from assets.front.page import FRONT_PAGE, front_page_over

__all__ = ["FRONT_PAGE", "front_page_over"]

"""Writing the site of painters' tables."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from assets.protobias.pages.painter import Painted
from assets.protobias.pages.site import STATIC, Site, pages
from assets.report import rendering
from assets.report.beside import alone
from assets.report.costs import costs
from assets.report.publish import place
from resources.calls.spending import Spent


def build(
    folder: Path,
    *,
    painters: Sequence[Painted],
    prompts: Mapping[str, pd.DataFrame],
    png_of: Callable[[str], bytes],
    title: str,
    facts: Mapping[str, str],
    missing: Sequence[str] = (),
    spent: Sequence[Spent] = (),
    originals: bool = False,
) -> Path:
    """Write the site into `folder` and return the path of its `index.html`.

    `painters` come in the order in which they were noticed, and `prompts` are the tables of
    `prompt_triplets` by domain. `png_of` gives the PNG of a sha256; `facts` are the lines of the
    footer; `missing` says in words what is not there, and `spent` is what was paid for all of it.
    Pictures are shown smaller than they are; with `originals` they lie in the site as they are as
    well, and pages lead to them.
    What `folder` held before is replaced when the new site is whole.
    """
    site = Site(title, facts, painters, prompts, missing, costs(spent), originals)
    return place(
        folder,
        pictures=[each.sha256 for each in site.thumbnails] if originals else (),
        thumbnails=site.thumbnails,
        png_of=png_of,
        static=(*rendering.STATIC, *STATIC),
        pages=chain(pages(site), alone(title)),
    )

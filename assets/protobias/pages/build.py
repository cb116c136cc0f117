"""The site, made of painters' tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from assets.protobias.common import QUESTION, TITLE
from assets.protobias.pages import (
    charts,
    differences,
    outcomes,
    paper,
    retention,
    tables,
)
from assets.protobias.pages.figures import TITLES, Painted
from assets.protobias.pages.finding import Finding, finding
from assets.protobias.pages.gallery import STATES
from assets.protobias.pages.site import Site
from assets.protobias.pages.standings import judged
from assets.report import publish
from assets.report.costs import costs
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from resources.calls.spending import Spent

_HERE = Path(__file__).parent
_STYLES = _HERE / "pairs.css"
_LINKS = tuple(
    (title, f"index.html#{title.lower()}")
    for title in ("Leaderboard", "Painters", "Retention", "Costs")
)


def build(
    *,
    painters: Sequence[Painted],
    prompts: Mapping[str, pd.DataFrame],
    facts: Mapping[str, str],
    missing: Sequence[str] = (),
    spent: Sequence[Spent] = (),
    originals: bool = False,
    dates: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> publish.Site:
    """Make the site of painters, which come in the order in which they were noticed.

    `prompts` are the tables of `prompt_triplets` by domain, `facts` the lines of the footer;
    `missing` says in words what is not there. Pictures are shown smaller than they are; with
    `originals` they lie in the site as they are as well, and pages lead to them. `dates` says by
    painter and metric when its scores were stored.
    """
    site = Site(painters, prompts, missing, costs(spent), originals)
    found = finding(site.results, site.trials, site.stand_ins, site.galleries)
    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.firmness),
        pages=_pages(site, found, Shell(TITLE, facts, _LINKS, [_STYLES.name])),
        pictures=[each.sha256 for each in site.thumbnails] if originals else (),
        thumbnails=site.thumbnails,
        static=[_STYLES],
        metadata={"painters": len(painters), "stand_ins": len(site.stand_ins)},
        judged=judged(site.newest_first, site.galleries, dates),
    )


def _pages(site: Site, found: Finding, shell: Shell) -> Iterator[tuple[str, str]]:
    shared = {"site": site, "tables": tables, "paper_says": paper, "titles": TITLES}
    shared |= {"question": QUESTION, "stages": retention}
    page = Renderer(_HERE / "templates", shell, **shared).page
    yield from page("index.html", "front.html", finding=found)
    for painted in site.painters:
        yield from page(
            painted.page,
            "painter.html",
            painted=painted,
            charts=charts.failures(painted.board),
            score_charts=charts.scores(painted.board),
            same_family=[each.name for each in painted.board.metrics if each.same_family],
            agreement=differences.agreement(painted),
            differences=differences.between_metrics(painted),
            changes=site.changes_of(painted),
            retention=retention.of_painter(painted),
            outcomes=outcomes.outcomes(painted),
            served=outcomes.served(painted),
        )
        shown = site.galleries[painted.name]
        yield from page(
            painted.gallery, "pairs.html", painted=painted, gallery=shown, states=STATES
        )

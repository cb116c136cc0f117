"""The site, made of sources' tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from assets.frame.common import QUESTION, TITLE
from assets.frame.pages import charts, finding, paper, tables
from assets.frame.pages.gallery import Gallery, gallery
from assets.frame.pages.source_page import FEWEST, SHORT, Sourced, firmest_first
from assets.frame.pages.standings import judged
from assets.report import publish
from assets.report.costs import costs
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from resources.calls.spending import Spent

_HERE = Path(__file__).parent
_LINKS = tuple((t, f"index.html#{t.lower()}") for t in ("Judges", "Sources", "Success", "Costs"))


def build(
    *,
    sources: Sequence[Sourced],
    facts: Mapping[str, str],
    spent: Sequence[Spent] = (),
    dates: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> publish.Site:
    """Make the site of sources, which come in the order in which they were noticed.

    `facts` are the lines of the footer, `dates` says by source and judge when its scores were
    stored. Pictures are shown smaller than they are.
    """
    found = finding.finding(sources)
    galleries = {source.name: gallery(source) for source in sources}
    shown = dict.fromkeys(each for held in galleries.values() for each in held.thumbnails)
    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.state),
        pages=_pages(sources, galleries, found, Shell(TITLE, facts, _LINKS), spent),
        pictures=(),
        thumbnails=list(shown),
        metadata={
            "sources": len(sources),
            "stand_ins": sum(source.stand_in for source in sources),
        },
        judged=judged(firmest_first(sources), galleries, dates),
    )


def _pages(
    sources: Sequence[Sourced],
    galleries: Mapping[str, Gallery],
    found: finding.Finding,
    shell: Shell,
    spent: Sequence[Spent],
) -> Iterator[tuple[str, str]]:
    shared: dict[str, object] = {
        "sources": sources,
        "tables": tables,
        "charts": charts,
        "sentence": finding.sentence,
    }
    shared |= {"paper_says": paper, "fewest": FEWEST}
    page = Renderer(_HERE / "templates", shell, question=QUESTION, short=SHORT, **shared).page
    yield from page("index.html", "front.html", found=found, costs=costs(spent))
    for source in sources:
        yield from page(source.page, "source.html", source=source)
        yield from page(
            source.gallery, "pictures.html", source=source, gallery=galleries[source.name]
        )

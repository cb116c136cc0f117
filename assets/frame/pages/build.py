"""The site, made of sources' tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from assets.frame.common import QUESTION, TITLE
from assets.frame.pages import charts, finding, paper, susceptibility, tables, win_rates
from assets.frame.pages.gallery import gallery
from assets.frame.pages.source_page import SHORT, Sourced, firmest_first
from assets.frame.pages.standings import judged
from assets.report import publish
from assets.report.costs import costs
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from resources.calls.spending import Spent

_TEMPLATES = Path(__file__).parent / "templates"
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
    modules = {"tables": tables, "charts": charts, "sentence": finding.sentence}
    modules |= {"win_rates": win_rates, "susceptibility": susceptibility}
    told = {"sources": sources, "paper_says": paper, "short": SHORT}
    shell = Shell(TITLE, facts, _LINKS)
    page = Renderer(_TEMPLATES, shell, question=QUESTION, **modules, **told).page

    def pages() -> Iterator[tuple[str, str]]:
        yield from page("index.html", "front.html", found=found, costs=costs(spent))
        for source in sources:
            yield from page(source.page, "source.html", source=source)
            pictures = galleries[source.name]
            yield from page(source.gallery, "pictures.html", source=source, gallery=pictures)

    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.firmness),
        pages=pages(),
        pictures=(),
        thumbnails=list(shown),
        metadata={
            "sources": len(sources),
            "stand_ins": sum(source.stand_in for source in sources),
        },
        judged=judged(firmest_first(sources), galleries, dates),
    )

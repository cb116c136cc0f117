"""The site, made of datasets' tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from assets.report import publish
from assets.report.costs import costs
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from assets.vhexpansion.common import QUESTION, TITLE
from assets.vhexpansion.pages import charts, finding, mitigation, paper, tables
from assets.vhexpansion.pages.dataset_page import Answered, firmest_first
from assets.vhexpansion.pages.gallery import Pair, gallery
from assets.vhexpansion.pages.standings import judged
from resources.calls.spending import Spent

_HERE = Path(__file__).parent
_LINKS = tuple((t, f"index.html#{t.lower()}") for t in ("Datasets", "Judges", "Paper", "Costs"))


def build(
    *,
    datasets: Sequence[Answered],
    facts: Mapping[str, str],
    spent: Sequence[Spent] = (),
    dates: Mapping[tuple[str, str], str] = MappingProxyType({}),
    tuned: mitigation.Mitigation | None = None,
) -> publish.Site:
    """Make the site of datasets; `facts` are the lines of the footer.

    `dates` says by dataset and judge when its answers were stored; `tuned` is what fine-tuning has
    changed, where a model was.
    """
    found = finding.finding(datasets)
    galleries = {dataset.name: gallery(dataset) for dataset in datasets}
    pairs = (pair for held in galleries.values() for of in held.values() for pair in of)
    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.state),
        pages=_pages(datasets, galleries, found, Shell(TITLE, facts, _LINKS), spent, tuned),
        pictures=(),
        thumbnails=list(dict.fromkeys(pair.picture for pair in pairs)),
        metadata={
            "datasets": len(datasets),
            "stand_ins": sum(dataset.stand_in for dataset in datasets),
        },
        judged=judged(firmest_first(datasets), galleries, dates),
    )


def _pages(
    datasets: Sequence[Answered],
    galleries: Mapping[str, Mapping[str, Sequence[Pair]]],
    found: finding.Finding,
    shell: Shell,
    spent: Sequence[Spent],
    tuned: mitigation.Mitigation | None,
) -> Iterator[tuple[str, str]]:
    shared = {"datasets": datasets, "tables": tables, "charts": charts, "paper": paper}
    shared |= {"mitigation": mitigation, "tuned": tuned}
    page = Renderer(_HERE / "templates", shell, question=QUESTION, **shared).page
    yield from page("index.html", "front.html", found=found, costs=costs(spent))
    for dataset in datasets:
        pairs = galleries[dataset.name]
        yield from page(dataset.page, "dataset.html", dataset=dataset, pairs=pairs)
        yield from page(dataset.gallery, "pairs.html", dataset=dataset, pairs=pairs)
    if tuned is not None:
        yield from page(mitigation.PAGE, "mitigation.html", found=tuned)

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
from assets.vhexpansion.pages.gallery import gallery
from assets.vhexpansion.pages.standings import judged
from resources.calls.spending import Spent

_TEMPLATES = Path(__file__).parent / "templates"
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
    modules = {"tables": tables, "charts": charts, "paper": paper, "mitigation": mitigation}
    told = {"question": QUESTION, "datasets": datasets, "tuned": tuned}
    page = Renderer(_TEMPLATES, Shell(TITLE, facts, _LINKS), **modules, **told).page

    def pages() -> Iterator[tuple[str, str]]:
        yield from page("index.html", "front.html", found=found, costs=costs(spent))
        for dataset in datasets:
            held = galleries[dataset.name]
            yield from page(dataset.page, "dataset.html", dataset=dataset)
            yield from page(dataset.gallery, "pairs.html", dataset=dataset, pairs=held)
        if tuned is not None:
            yield from page(mitigation.PAGE, "mitigation.html", found=tuned)

    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.firmness),
        pages=pages(),
        pictures=(),
        thumbnails=list(dict.fromkeys(pair.picture for pair in pairs)),
        metadata={
            "datasets": len(datasets),
            "stand_ins": sum(dataset.stand_in for dataset in datasets),
        },
        judged=judged(firmest_first(datasets), galleries, dates),
    )

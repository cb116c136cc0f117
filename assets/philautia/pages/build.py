"""The site, made of datasets' tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assets.philautia.common import QUESTION, TITLE
from assets.philautia.pages import charts, finding, paper, tables
from assets.philautia.pages.dataset_page import SAID, Compared
from assets.philautia.pages.gallery import gallery, strongest, thumbnails
from assets.philautia.pages.standings import judged
from assets.report import publish
from assets.report.costs import costs
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from resources.calls.spending import Spent

_TEMPLATES = Path(__file__).parent / "templates"
_LINKS = tuple((t, f"index.html#{t.lower()}") for t in ("Datasets", "Judges", "Panels", "Costs"))


def build(
    *, datasets: Sequence[Compared], facts: Mapping[str, str], spent: Sequence[Spent] = ()
) -> publish.Site:
    """Make the site of datasets; `facts` are the lines of the footer."""
    found = finding.finding(datasets)
    galleries = {dataset.name: gallery(dataset) for dataset in datasets}
    modules = {"tables": tables, "charts": charts, "paper": paper}
    told = {"question": QUESTION, "datasets": datasets, "said": SAID}
    page = Renderer(_TEMPLATES, Shell(TITLE, facts, _LINKS), **modules, **told).page

    def pages() -> Iterator[tuple[str, str]]:
        best = strongest(galleries[found.of.name])
        yield from page("index.html", "front.html", found=found, best=best, costs=costs(spent))
        for dataset in datasets:
            shown = galleries[dataset.name]
            yield from page(dataset.page, "dataset.html", dataset=dataset, shown=shown)

    return publish.Site(
        entry=Entry(TITLE, QUESTION, found.sentence, found.firmness),
        pages=pages(),
        pictures=(),
        thumbnails=[*thumbnails([*galleries.values()])],
        metadata={
            "datasets": len(datasets),
            "stand_ins": sum(dataset.stand_in for dataset in datasets),
        },
        judged=judged(datasets, galleries),
    )

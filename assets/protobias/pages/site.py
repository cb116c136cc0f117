"""The pages of the site: one over all painters, and two for each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pandas as pd
from jinja2 import Environment

from assets.protobias.pages import (
    agreement,
    charts,
    differences,
    outcomes,
    paper,
    retention,
    tables,
)
from assets.protobias.pages.figures import TITLES
from assets.protobias.pages.finding import finding
from assets.protobias.pages.gallery import STATES, Gallery, gallery
from assets.protobias.pages.painter import Painted
from assets.report.cells import Table
from assets.report.costs import Costs
from assets.report.csv_files import Sheets
from assets.report.outcomes import served_table
from assets.report.rendering import environment
from assets.report.thumbnails import Thumbnail

_HERE = Path(__file__).parent
STATIC = (_HERE / "pairs.css",)


@dataclass(frozen=True)
class Site:
    """Everything that the pages show; `painters` come as they were noticed, the newest last.

    `prompts` are the tables of triplets by domain, and `missing` says in words what is not there.
    """

    title: str
    facts: Mapping[str, str]
    painters: Sequence[Painted]
    prompts: Mapping[str, pd.DataFrame]
    missing: Sequence[str]
    costs: Costs | None
    originals: bool

    @property
    def results(self) -> list[Painted]:
        """The painters of real pictures, enough of them to be ranked."""
        return [each for each in self.painters if not (each.rehearsal or each.trial)]

    @property
    def trials(self) -> list[Painted]:
        """The painters of real pictures of which too few, or a part, are evaluated."""
        return [painted for painted in self.painters if painted.trial]

    @property
    def rehearsals(self) -> list[Painted]:
        """The painters of schematics."""
        return [painted for painted in self.painters if painted.rehearsal]

    @property
    def evaluated(self) -> int:
        """How many pairs of real pictures are evaluated."""
        return sum(painted.evaluated for painted in self.results)

    @property
    def models(self) -> int:
        """How many metrics and judges there are but for references."""
        held = (metric for painted in self.painters for metric in painted.board.metrics)
        return len({metric.name for metric in held if metric.group == "Metrics and judges"})

    @cached_property
    def galleries(self) -> dict[str, Gallery]:
        """The pairs that are shown, by painter."""
        return {painted.name: gallery(painted) for painted in self.painters}

    @property
    def thumbnails(self) -> list[Thumbnail]:
        """Every picture on the pages, each once."""
        return list(
            dict.fromkeys(each for held in self.galleries.values() for each in held.thumbnails)
        )

    def earlier(self, painted: Painted) -> list[Painted]:
        """The painters before this one, real ones beside real ones alone."""
        if painted.trial:
            return []
        alike = self.rehearsals if painted.rehearsal else self.results
        return alike[: alike.index(painted)]

    @property
    def newest(self) -> Painted:
        """The painter of real pictures that was noticed last."""
        return self.results[-1]

    @cached_property
    def changes(self) -> Table | None:
        """What changed with the newest painter, against each earlier one; None without any."""
        if len(self.results) < 2:
            return None
        return differences.overall(self.compared[False], self.newest, self.earlier(self.newest))

    @cached_property
    def compared(self) -> dict[bool, pd.DataFrame]:
        """The differences between painters, those of rehearsals under True."""
        kinds = {False: self.results, True: self.rehearsals}
        return {kind: differences.between_painters(of) for kind, of in kinds.items() if len(of) > 1}

    @property
    def triplets(self) -> Table:
        """What became of concepts."""
        return retention.triplets(self.prompts)

    @property
    def retention(self) -> Table:
        """What was left after each step, of real painters."""
        return retention.overview(self.results)


def pages(site: Site) -> Iterator[tuple[str, str]]:
    """Every page and the CSV of every table as (path in the site, text)."""
    found = finding(site.results, site.trials, site.rehearsals, site.galleries)
    yield from _page("index.html", "front.html", site=site, finding=found)
    for painted in site.painters:
        told = {"site": site, "painted": painted}
        yield from _page(painted.page, "painter.html", **told, **_tables(site, painted))
        shown = site.galleries[painted.name]
        yield from _page(painted.gallery, "pairs.html", **told, gallery=shown, states=STATES)


def _page(path: str, template: str, **told: object) -> Iterator[tuple[str, str]]:
    sheets = Sheets(path)
    yield path, _environment().get_template(template).render(told, root="", sheets=sheets)
    yield from sheets.files.items()


def _tables(site: Site, painted: Painted) -> dict[str, object]:
    return {
        "charts": charts.failures(painted.board),
        "score_charts": charts.scores(painted.board),
        "kin": [metric.name for metric in painted.board.metrics if metric.kin],
        "agreement": agreement.agreement(painted),
        "differences": differences.between_metrics(painted),
        "changes": _changes(site, painted),
        "retention": retention.of_painter(painted),
        "endings": outcomes.endings(painted),
        "served": outcomes.served(painted),
    }


def _changes(site: Site, painted: Painted) -> list[Table]:
    return [
        differences.changes(site.compared[painted.rehearsal], painted, other)
        for other in site.earlier(painted)
    ]


@cache
def _environment() -> Environment:
    found = environment(_HERE / "templates")
    found.globals |= {"tables": tables, "published": paper, "titles": TITLES}
    found.globals["served_table"] = served_table
    return found

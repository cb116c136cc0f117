"""A report of one page: the finding, its chart as numbers too, some pictures, and the costs."""

from collections.abc import Sequence
from pathlib import Path

from assets.report.asset import Sources
from assets.report.cells import Line, Table, share
from assets.report.charts import PERCENT, Bar, Chart, Mark
from assets.report.costs import costs
from assets.report.formats import Rate, interval, percent
from assets.report.publish import Site, Thumbnail
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry

_SHOWN = 320
"""The longer side in px of a picture."""


def one_page(
    sources: Sources,
    entry: Entry,
    *,
    measured: str,
    rates: Sequence[tuple[str, Rate]],
    pictures: Sequence[tuple[str, str]] = (),
    method: str = "",
) -> Site:
    """The site of a benchmark whose result is one rate for each judge or metric.

    `measured` says what a rate is the share of; `rates` are by name. `pictures` are captions with
    the sha256 of what they are about. `method` is a paragraph, which is folded.
    """
    bars = [
        Bar(
            name,
            [Mark("bias", rate, percent(rate.value))],
            f"{percent(rate.value)} {interval(rate)}",
        )
        for name, rate in rates
    ]
    thumbnails = [(caption, Thumbnail(digest, _SHOWN)) for caption, digest in pictures]
    page = Renderer(Path(__file__).parent / "templates", Shell(entry.title, sources.facts)).page(
        "index.html",
        "one_page.html",
        entry=entry,
        chart_of=Chart("rates", entry.title, measured, PERCENT, bars),
        table=Table.plain(measured, "Judge", [measured], [Line(n, [share(r)]) for n, r in rates]),
        thumbnails=thumbnails,
        costs=costs(sources.spent),
        method=method,
    )
    return Site(entry, page, (), list(dict.fromkeys(each for _, each in thumbnails)))

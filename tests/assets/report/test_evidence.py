"""What a site tells of judges is what its own pages show, and its pictures lie there."""

import html
import re
from collections.abc import Callable
from functools import cache

import pytest

from assets.frame import pages as frame
from assets.philautia import pages as philautia
from assets.protobias import pages as protobias
from assets.report.front_tables import WRITTEN
from assets.report.publish import Site
from assets.report.standings import JudgeResults
from assets.vhexpansion import pages as vhexpansion
from assets.vlmbias import pages as vlmbias
from tests.assets.frame.test_pages import sourced
from tests.assets.philautia.test_numbers import everybody
from tests.assets.philautia.test_numbers import table as scored
from tests.assets.philautia.test_pages import dataset as captioned
from tests.assets.protobias.pairs_data import Pictures, painted, triplets_of
from tests.assets.vhexpansion.test_pages import EAR, EYE, dataset, said
from tests.assets.vlmbias.site_data import Report, lifelike

TOLD = {"Score inflation": "tbody", "Self-preference": "desc"}
"""The tag of what holds a number, where that is no row."""


def of_vlmbias() -> Site:
    tables = Report(3, models=("prior", "some/vlm-1", "some/vlm-2"), answering=lifelike).tables()
    del tables["png_of"]
    return vlmbias.build(**tables)


def of_protobias() -> Site:
    pictures = Pictures()
    both = [painted(name, pictures) for name in ("sketch", "flux")]
    return protobias.build(both, prompts={"animals": triplets_of("animals")}, facts={})


def of_frame() -> Site:
    source = sourced(("eye", 1.0), ("stone", 0.0), images=30)
    return frame.REPORT.build([source], facts={})


def of_vhexpansion() -> Site:
    zoo = dataset([EYE, EAR], said("eye", 0.7), said("ear", 1.0))
    few = dataset([EYE], said("eye", 0.6, cases=12), name="few")
    return vhexpansion.REPORT.build([few, zoo], facts={})


def of_philautia() -> Site:
    return philautia.REPORT.build([captioned(everybody(cid=scored("cid", own=9)))], facts={})


@cache
def built(made: Callable[[], Site]) -> tuple[Site, dict[str, str]]:
    """A site, and its pages by path."""
    site = made()
    return site, dict(site.pages)


def parts(page: str, tag: str) -> list[str]:
    """The text of each part of a page that begins with a tag, without spaces.

    A name may break where it has a tag in between.
    """
    found = re.split(f"<{tag}[ >]", page)[1:]
    return ["".join(html.unescape(re.sub(r"<[^>]*>", "", part)).split()) for part in found]


@pytest.mark.parametrize(
    ("made", "least"),
    [(of_vlmbias, 6), (of_protobias, 6), (of_frame, 4), (of_vhexpansion, 3), (of_philautia, 5)],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_each_number_stands_where_it_leads(made: Callable[[], Site], least: int) -> None:
    """In the judge's row, among the judge's rows by domain, or in a chart's words."""
    site, pages = built(made)
    measures = {each.name: each for each in site.judged.measures}
    assert len(site.judged.standings) >= least
    for each in site.judged.standings:
        file, _, anchor = each.link.partition("#")
        assert f'id="{anchor}"' in pages[file]
        cell = WRITTEN[measures[each.measure].written](each.rate)
        wanted = ["".join(word.split()) for word in (each.model, cell.text, cell.detail)]
        rows = parts(pages[file], TOLD.get(each.measure, "tr"))
        assert any(all(word in row for word in wanted) for row in rows), each


@pytest.mark.parametrize(
    "made",
    [of_vlmbias, of_protobias, of_frame, of_vhexpansion, of_philautia],
    ids=lambda each: each.__name__,
)
def test_its_failures_are_pictures_of_the_site(made: Callable[[], Site]) -> None:
    site, pages = built(made)
    there = {f"images/{each}.png" for each in site.pictures}
    there |= {each.file for each in site.thumbnails}
    assert site.judged.failures
    for each in site.judged.failures:
        assert {each.picture, each.comparison or each.picture} <= there
        assert each.link.partition("#")[0] in pages
        assert "" not in (each.question, each.answer, each.truth, each.alt)
    assert JudgeResults.read(site.judged.file[1]) == site.judged


def test_the_firmest_come_first_and_trials_are_trials() -> None:
    held = [(each.scope, each.firmness) for each in built(of_vhexpansion)[0].judged.standings]
    assert held == [
        ("questions of zoo", "result"),
        ("questions of zoo", "result"),
        ("questions of few", "trial"),
    ]
    of = {each.scope: each.firmness for each in built(of_protobias)[0].judged.standings}
    assert list(of) == ["pairs by flux", "pairs by sketch"]
    assert of["pairs by sketch"] == "stand-in"
    references = {each.model: each.firmness for each in built(of_vlmbias)[0].judged.standings}
    assert references == {"prior": "stand-in", "some/vlm-1": "result", "some/vlm-2": "result"}

"""Metadata of reports shows numbers and pictures on Dagster's pages, and fetches nothing else."""

import dagster as dg
from markdown_it import MarkdownIt

from assets.report.links import add_report_link
from assets.report.publish import Site
from assets.report.site_metadata import build_site_metadata
from assets.report.standings import JudgeResults
from assets.report.start_page import Entry
from tests.assets.report.fronts import ACCURACY, INFLATION, ODD, PICTURE, failure, standing

HOSTILE = "![x](http://127.0.0.1/x.png) | <img src=x> [y](http://127.0.0.1) \n# " * 9


def build(**results: object) -> dict[str, object]:
    entry = Entry("Another", "does it look?", "It looks.", "result")
    return build_site_metadata("another", Site(entry, (), (), (), judged=JudgeResults(**results)))


def test_numbers_are_shown_with_their_plots() -> None:
    standings = [
        standing("eye", 0.5),
        standing("ear", None, "no answer"),
        *(standing("eye", change, measure=INFLATION, of=f"of {change}") for change in (-0.2, 0.6)),
    ]
    metadata = build(measures=[ACCURACY, INFLATION], standings=standings)
    assert metadata["finding"] == "It looks."
    assert metadata["report"] == dg.MetadataValue.url("/reports/another/index.html")
    accuracy = metadata["Accuracy"].value.splitlines()
    assert accuracy[0] == "| judge, scope | 0 to 1 | number | firmness |"
    assert accuracy[2].startswith("| eye, the benchmark | ····──●─···· | 50.0")
    assert accuracy[3].startswith("| ear, the benchmark |  |")
    inflation = metadata["Inflation"].value.splitlines()
    assert inflation[0].split(" | ")[1] == "-0.3 to 0.7"
    assert [line.split(" | ")[1].index("●") for line in inflation[2:]] == [1, 10]


def test_failures_show_only_pictures_of_the_report_without_a_click() -> None:
    hostile = failure(ODD)._replace(
        question=HOSTILE,
        answer=HOSTILE,
        truth=HOSTILE,
        alt=HOSTILE,
        comparison=PICTURE.file,
        comparison_alt=HOSTILE,
    )
    metadata = build(failures=[hostile, failure("eye"), failure("ear")])
    assert [name for name in metadata if name.startswith("failure")] == ["failure_1", "failure_2"]
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    for name, count in (("failure_1", 2), ("failure_2", 1)):
        text = metadata[name].value
        assert len(text) < 1000
        tokens = [child for token in markdown.parse(text) for child in token.children or ()]
        pictures = [token.attrs["src"] for token in tokens if token.type == "image"]
        assert pictures == [f"/reports/another/{PICTURE.file}"] * count
        assert not {token.type for token in tokens} & {"link_open", "html_inline", "html_block"}


def test_assets_of_benchmarks_link_their_report() -> None:
    @dg.asset(key=["vlmbias", "it"], description="It.", code_version="3")
    def vlmbias_asset() -> None: ...

    @dg.asset(key=["money", "it"], description="It.")
    def other_asset() -> None: ...

    linked, other = (add_report_link(asset) for asset in (vlmbias_asset, other_asset))
    (spec,) = linked.specs
    assert spec.description == "It.\n\n[Open the report](/reports/vlmbias/index.html)"
    assert spec.code_version == "3"
    assert [spec.description for spec in other.specs] == ["It."]

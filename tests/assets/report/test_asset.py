"""The asset that makes a report: of what it is made, and what it replaces."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, materialize

from assets.frame import pages as frame
from assets.kit.table_asset import NotMaterialized
from assets.report.asset import ReportSources, report_asset, subjects_report
from assets.report.openings import Entry
from assets.report.publish import Site
from assets.report.rendering import Renderer, Shell
from metrics.statistics.firmness import Firmness
from resources.settings.default_resources import build_default_resources

FOUND = "A & B look at <half> of it."


def site(finding: str = FOUND, firmness: Firmness = "result") -> Site:
    """A site of one page, of a benchmark that nothing else knows of."""
    shell = Shell("Another", {"Found": finding}, [("Top", "index.html")])
    pages = Renderer(Path(), shell).page("index.html", "base.html")
    return Site(Entry("Another", "does it look?", finding, firmness), pages, (), ())


def made(root: Path, site_of: Callable[[ReportSources], Site]) -> Any:
    """Materialize the report of a benchmark that nothing else knows of."""
    asset = report_asset("another", site_of, deps=[AssetKey("it")], description="Another one.")
    return materialize([asset], resources=build_default_resources(str(root)), raise_on_error=False)


@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_a_report_is_an_asset_of_what_its_benchmark_gathers(tmp_path: Path) -> None:
    versions = []
    for finding in (FOUND, FOUND, "Something else."):
        result = made(tmp_path, lambda sources, finding=finding: site(finding))
        (event,) = result.get_asset_materialization_events()
        versions.append(event.materialization.tags["dagster/data_version"])
    assert versions[0] == versions[1] != versions[2]
    assert "Something else." in (tmp_path / "report" / "index.html").read_text()
    entry = json.loads((tmp_path / "report" / "another" / "finding.json").read_text())
    assert entry["finding"] == "Something else."

    def nothing(sources: ReportSources) -> Site:
        assert sources.table("it") is None
        assert sources.tables("it", ["a", "b"]) == {}
        assert [*sources.concat(["it"], ["a", "b"], ["judge"]).columns] == ["judge"]
        assert sources.dates("answers", ["eye"], ["a"]) == {"eye": ""}
        raise NotMaterialized("There is nothing yet.")

    assert not made(tmp_path, nothing).success
    assert "Something else." in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_without_any_subject_the_report_names_the_table_to_make_first(tmp_path: Path) -> None:
    asset = subjects_report(
        frame.REPORT,
        "another",
        names=lambda sources: ["brush", "pen"],
        load=lambda sources, name: None,
        table="it",
        description="Another one.",
    )
    resources = build_default_resources(str(tmp_path))
    with pytest.raises(NotMaterialized, match="Materialize another/it first"):
        materialize([asset], resources=resources)
    assert asset.asset_deps[AssetKey(["another", "report"])] == {AssetKey(["another", "it"])}

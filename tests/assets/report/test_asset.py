"""The asset that makes a report: of what it is made, and what it replaces."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, materialize

from assets.kit.table_asset import NotMaterialized
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
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
        raise NotMaterialized("There is nothing yet.")

    assert not made(tmp_path, nothing).success
    assert "Something else." in (tmp_path / "report" / "index.html").read_text()

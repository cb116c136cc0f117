"""Links of Dagster's pages to published reports, which `counterfactory ui` serves beside them."""

from typing import Any

from dagster import AssetsDefinition, AssetSpec, MetadataValue, UrlMetadataValue

from assets.kit.benchmarks import load_benchmarks
from resources.settings.locations import REPORTS_ROUTE


def build_report_link(name: str) -> UrlMetadataValue:
    """Build the link to the report of a benchmark, or with "" to the front page.

    It has no host: Dagster's pages complete it with the address at which they were opened.
    """
    return MetadataValue.url("/".join([REPORTS_ROUTE, *filter(None, [name]), "index.html"]))


def add_report_link(asset: Any) -> Any:
    """Add a link to its benchmark's report to an asset's description, which its page opens with.

    Returns definitions without a benchmark unchanged.
    """
    return asset.map_asset_specs(_link) if isinstance(asset, AssetsDefinition) else asset


def _link(spec: AssetSpec) -> AssetSpec:
    name = spec.key.path[0]
    if name not in load_benchmarks():
        return spec
    link = f"[Open the report]({build_report_link(name).value})"
    return spec.replace_attributes(description=f"{spec.description}\n\n{link}")

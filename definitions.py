"""The code location: everything that Dagster loads, assembled."""

import os
from pathlib import Path

import dagster as dg

import assets
from resources.design import Design
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.tables import ParquetTables

home = os.environ.get("COUNTERFACTORY_HOME") or str(Path(__file__).parent / "data")
root = str(Path(home).expanduser().resolve())

defs = dg.Definitions(
    assets=dg.load_assets_from_package_module(assets),
    asset_checks=dg.load_asset_checks_from_package_module(assets),
    resources={
        "io_manager": ParquetTables(root=root),
        "images": ImageStore(root=root),
        "ledger": WorkLedger(root=root),
        "design": Design(),
    },
    executor=dg.multiprocess_executor.configured({"start_method": {"forkserver": {}}}),
)

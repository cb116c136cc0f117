"""The code location: everything that Dagster loads, assembled."""

import os
from pathlib import Path
from typing import Any

import dagster as dg

import assets
from resources.design import Design
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.tables import ParquetTables


def resources_at(root: str) -> dict[str, Any]:
    """Every resource, with images, tables and the ledger below `root`."""
    return {
        "io_manager": ParquetTables(root=root),
        "images": ImageStore(root=root),
        "ledger": WorkLedger(root=root),
        "design": Design(),
    }


def data_root() -> str:
    """COUNTERFACTORY_HOME, or the folder `data` beside this file; always absolute."""
    home = os.environ.get("COUNTERFACTORY_HOME") or Path(__file__).parent / "data"
    if "://" in str(home):
        raise ValueError(
            f"COUNTERFACTORY_HOME is {home}, which is not a folder of this machine. Set it to one: "
            "what was drawn and measured is remembered in a database that needs a local disk."
        )
    return str(Path(home).expanduser().resolve())


defs = dg.Definitions(
    assets=dg.load_assets_from_package_module(assets),
    asset_checks=dg.load_asset_checks_from_package_module(assets),
    resources=resources_at(data_root()),
    executor=dg.multiprocess_executor.configured({"start_method": {"forkserver": {}}}),
)

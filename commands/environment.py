"""Environment of commands: variables of `.env`, the Dagster instance, and the stores.

Dagster and the code location take seconds to load: commands import them inside functions, so that
help and completion answer at once.
"""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dotenv import load_dotenv

from resources.settings.project_folder import find_project_folder

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from assets.kit.plan import PlanContext

STARTER_FOLDER = Path(__file__).with_name("starter")
"""Files of a new project; in a checkout, links to those at its root."""
ORIGINS_VARIABLE = "COUNTERFACTORY_UI_ORIGINS"
"""Environment variable by which `counterfactory ui` hands its addresses to the webserver."""


def load_environment() -> None:
    """Read `.env` of this folder, and name Dagster's instance: the project's own by default.

    Raises `NoProject` where neither an instance is named nor a project is known.
    """
    load_dotenv(".env")
    if "DAGSTER_HOME" in os.environ:
        return
    home = find_project_folder() / ".dagster"
    os.environ["DAGSTER_HOME"] = str(home)
    if not (home / "dagster.yaml").exists():
        home.mkdir(exist_ok=True)
        shutil.copyfile(STARTER_FOLDER / "dagster.yaml", home / "dagster.yaml")


@contextmanager
def open_stores(instance: "DagsterInstance | None" = None, *names: str) -> Iterator[Any]:
    """The resources of those names, or all, as runs use them."""
    from dagster import build_resources

    from resources.settings.default_resources import build_default_resources
    from resources.settings.locations import find_data_root

    resources = build_default_resources(str(find_data_root()))
    with warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        selected_resources = {name: resources[name] for name in names or resources}
        with build_resources(selected_resources, instance) as stores:
            yield stores


def build_plan_context(stores: Any) -> "PlanContext":
    """Build the sources of planners from all `open_stores`."""
    from assets.kit.plan import PlanContext

    return PlanContext(
        home=stores.home,
        images=stores.images,
        work_cache=stores.work_cache,
        calls=stores.models.calls,
    )

"""Say what it would cost to materialize assets now: requests that are missing, and their price.

Sends nothing. Exits with 1 where something is asked for that is not there.

Dagster is imported inside the functions that use it: worker processes import this file as well,
and have no use for it.
"""

import argparse
import sys
import warnings
from typing import Any

from dotenv import load_dotenv
from pydantic import TypeAdapter, ValidationError

_SHOWN = 80


def main() -> int:
    """Print the quote; say what is wrong and return 1 if there is none."""
    from dagster import DagsterError  # noqa: PLC0415 - see above

    from resources.faults import StoreError  # noqa: PLC0415 - see above
    from resources.models.catalog import CatalogError  # noqa: PLC0415 - see above

    load_dotenv(".env")
    arguments = _arguments()
    try:
        config = _config(arguments.config)
        said = _quoted(arguments.select, arguments.partitions, config)
    except (ValueError, CatalogError, StoreError, DagsterError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make quote", description=__doc__)
    parser.add_argument(
        "--select",
        default="*",
        help="assets, in Dagster's words (SELECT='kind:\"judge\"'); all by default",
    )
    parser.add_argument(
        "--partitions",
        nargs="*",
        default=[],
        help="their partitions (PARTITIONS='flags game_boards'); all that they have by default",
    )
    parser.add_argument(
        "--config",
        default="{}",
        help="run config of their ops as JSON, as in Dagster's launchpad",
    )
    return parser.parse_args()


def _config(written: str) -> dict[str, Any]:
    try:
        return TypeAdapter(dict[str, Any]).validate_json(written)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"]
        shown = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"
        raise ValueError(
            f"The config {shown} cannot be read: {problem}. Write an object of JSON, as in "
            '{"ops": {"vlmbias__questions": {"config": {}}}}.'
        ) from None


def _quoted(select: str, partitions: list[str], config: dict[str, Any]) -> str:
    from dagster import DagsterInstance, build_resources  # noqa: PLC0415 - see above

    from assets.kit.partitions import add_painters  # noqa: PLC0415 - see above
    from assets.kit.plan import PlanContext  # noqa: PLC0415 - see above
    from assets.planning import choose, quote, text  # noqa: PLC0415 - see above
    from definitions import catalog, data_root, defs, planners, resources_at  # noqa: PLC0415 - see above

    with DagsterInstance.get() as instance, warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        # As a sensor does while Dagster runs: what is named may be there since a minute ago.
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        chosen = choose(assets, planners, instance, select, partitions, config)
        with build_resources(resources_at(data_root()), instance) as known:
            stores = known.home, known.images, known.ledger, known.models.calls
            sources = PlanContext(*stores, chosen.besides)
            return text(quote(planners, sources, chosen.tasks), chosen.silent)


if __name__ == "__main__":
    sys.exit(main())

"""Say what in the stores nothing refers to any more, or remove it (REMOVE=1).

Answers that no table names were paid for: they are only removed where CALLS=1 says so as well.
Dagster is imported inside the functions that use it, as in the other scripts.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv import load_dotenv

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from resources.garbage_collector import Waste

_ROW = "{:<52} {:>8} {:>12}  {}\n"


def main() -> int:
    """Print what could be removed, and remove it if told to; return 1 if that cannot be."""
    from dagster import DagsterError  # noqa: PLC0415 - see above

    from resources.faults import StoreError  # noqa: PLC0415 - see above
    from resources.models.catalog import CatalogError  # noqa: PLC0415 - see above

    load_dotenv(".env")
    arguments = _arguments()
    try:
        _collect(remove=arguments.remove, calls=arguments.calls)
    except (ValueError, CatalogError, StoreError, DagsterError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make collect", description=__doc__)
    parser.add_argument("--remove", action="store_true", help="remove it (REMOVE=1)")
    parser.add_argument(
        "--calls", action="store_true", help="also answers that were paid for (CALLS=1)"
    )
    arguments = parser.parse_args()
    if arguments.calls and not arguments.remove:
        parser.error("CALLS=1 is for REMOVE=1: look at what would be removed first")
    return arguments


def _collect(*, remove: bool, calls: bool) -> None:
    from dagster import DagsterInstance, build_resources  # noqa: PLC0415 - see above

    from definitions import data_root, resources_at  # noqa: PLC0415 - see above
    from resources.garbage_collector import GarbageCollector  # noqa: PLC0415 - see above

    with DagsterInstance.get() as instance, warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        resources = {"models": resources_at(data_root())["models"]}
        with build_resources(resources, instance) as known:
            _require_rest(instance)
            collector = GarbageCollector(Path(data_root()), known.models.calls, known.models.images)
            waste = collector.waste()
            _tell(waste, remove=remove, calls=calls)
            if remove:
                _require_rest(instance)
                collector.remove(waste, calls=calls)


def _require_rest(instance: "DagsterInstance") -> None:
    """Raise `Busy` while a run is in progress: it may use what no table names yet."""
    from dagster import DagsterRunStatus, RunsFilter  # noqa: PLC0415 - see above

    from resources.faults import Busy  # noqa: PLC0415 - see above

    statuses = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")
    under_way = RunsFilter(statuses=[DagsterRunStatus[status] for status in statuses])
    runs = instance.get_runs(under_way, limit=3)
    if runs:
        raise Busy(
            f"Runs are in progress ({', '.join(run.run_id for run in runs)}), which may use what "
            "no table names yet: nothing was removed. Wait until they end, or terminate them under "
            "Runs, then collect again."
        )


def _tell(waste: "Waste", *, remove: bool, calls: bool) -> None:
    verb = "removed" if remove else "REMOVE=1"
    paid = "removed" if calls else "REMOVE=1 CALLS=1"
    cost = f"booked at ${waste.cost / 1e9:,.4f}" if waste.cost else "at no booked cost"
    if waste.unbooked:
        cost += f"; {waste.unbooked:,} without a booking"
    for what, number, size, how in (
        ("pictures that nothing refers to", len(waste.images), _megabytes(waste.images), verb),
        ("claims of processes that ended long ago", waste.claims, "", verb),
        (
            "files of processes that were killed",
            len(waste.leftovers),
            _megabytes(waste.leftovers),
            verb,
        ),
        (f"answers that no table names, {cost}", len(waste.calls), "", paid),
        (
            "pictures that only those refer to",
            len(waste.images_of_calls),
            _megabytes(waste.images_of_calls),
            paid,
        ),
    ):
        sys.stdout.write(_ROW.format(what, number, size, how if number else ""))


def _megabytes(sizes: "dict[str, int] | dict[Path, int]") -> str:
    return f"{sum(sizes.values()) / 1e6:,.1f} MB"


if __name__ == "__main__":
    sys.exit(main())

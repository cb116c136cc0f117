"""Build the drawn benchmark from nothing: every image, label, question, answer and the report.

Runs the graph in one process into the Dagster instance at DAGSTER_HOME, so that the Dagster UI
shows the same materializations afterwards. Exits with 1 if any run fails.

Dagster is imported inside the functions that use it: worker processes import this file as well,
and have no use for it.
"""

import argparse
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

from generators.domains import domains

if TYPE_CHECKING:
    from dagster import DagsterInstance, ExecuteInProcessResult

_TABLE = "{:<20} {:>7} {:>12} {:>9} {:>8}"


def main() -> int:
    """Materialize all topics, then accuracy and report; print what came of it."""
    from dagster import DagsterInstance  # noqa: PLC0415 - see above

    arguments = _arguments()
    try:
        _check(arguments)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    started = perf_counter()
    sys.stdout.write(_TABLE.format("topic", "images", "verified", "distinct", "seconds") + "\n")
    with DagsterInstance.get() as instance:
        totals = [0, 0, 0]
        for topic in domains():
            topic_started = perf_counter()
            result = _run(instance, arguments, topic)
            if not result.success:
                return _failed(result, topic)
            images, verified, distinct = _counts(result)
            for place, number in enumerate((images, verified, distinct)):
                totals[place] += number
            seconds = f"{perf_counter() - topic_started:.1f}"
            row = _TABLE.format(topic, images, f"{verified} of {images}", distinct, seconds)
            sys.stdout.write(row + "\n")
        result = _run(instance, arguments, None)
        if not result.success:
            return _failed(result, "report")
    images, verified, distinct = totals
    seconds = f"{perf_counter() - started:.1f}"
    row = _TABLE.format("all", images, f"{verified} of {images}", distinct, seconds)
    report = _metadata(result, "report")["path"]
    sys.stdout.write(f"{row}\n\nReport: {report}\nNow run `make ui` to see it all in Dagster.\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="any whole number (SEED=7)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[384, 768, 1152],
        help="lengths of the longer side in px (SIZES='384 768')",
    )
    return parser.parse_args()


def _check(arguments: argparse.Namespace) -> None:
    """Raise a ValueError that names what is wrong with data root, seed or sizes, if anything."""
    import definitions  # noqa: F401, PLC0415 - refuses a data root that cannot be one
    from resources.design import Design  # noqa: PLC0415 - see above

    design = Design(seed=arguments.seed, sizes=arguments.sizes)
    for domain in domains().values():
        design.sizes_for(domain)


def _run(
    instance: "DagsterInstance", arguments: argparse.Namespace, topic: str | None
) -> "ExecuteInProcessResult":
    """One topic's assets and checks, or for no topic the assets over all of them.

    Of the judges, those that cost nothing: the demo never spends, whatever models.yaml lists.
    """
    from dagster import AssetSelection  # noqa: PLC0415 - see above

    from definitions import defs  # noqa: PLC0415 - see above

    whole = AssetSelection.assets("vlmbias/accuracy", "vlmbias/report")
    paid = AssetSelection.kind("judge") - AssetSelection.kind("offline")
    assets = AssetSelection.groups("vlmbias") - whole - paid if topic else whole
    graph = defs.resolve_asset_graph()
    job = defs.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        instance=instance,
        # The tag and not `partition_key`, which all assets of a run would have to share.
        tags={"dagster/partition": topic} if topic else None,
        asset_selection=sorted(assets.resolve(graph)),
        run_config={
            "resources": {"design": {"config": {"seed": arguments.seed, "sizes": arguments.sizes}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        raise_on_error=False,
    )


def _counts(result: "ExecuteInProcessResult") -> tuple[int, int, int]:
    """Images of a topic, how many are verified, and how many are distinct."""
    found: dict[str, Any] = {}
    for evaluation in result.get_asset_check_evaluations():
        found |= {name: value.value for name, value in evaluation.metadata.items()}
    return found["images"], found["verified"], found["distinct"]


def _metadata(result: "ExecuteInProcessResult", asset: str) -> dict[str, Any]:
    (event,) = result.asset_materializations_for_node(f"vlmbias__{asset}")
    return {name: value.value for name, value in event.metadata.items()}


def _failed(result: "ExecuteInProcessResult", what: str) -> int:
    sys.stderr.write(f"\n{what} failed:\n")
    for event in result.get_step_failure_events():
        error = event.step_failure_data.error
        cause = error.cause if error and error.cause else error
        sys.stderr.write(f"- {event.step_key}: {cause.message.strip() if cause else 'unknown'}\n")
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            wrong = check.metadata["wrong"].value
            sys.stderr.write(f"\n{check.check_name}: {check.description}\n{wrong}\n")
    sys.stderr.write(f"The run is {result.run_id}: see its log in `make ui`.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

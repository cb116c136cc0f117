"""`counterfactory demo`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.tables import columns, console, print_table

if TYPE_CHECKING:
    from dagster import DagsterInstance, ExecuteInProcessResult

    from assets.kit.benchmarks import Benchmark, StandIn


class RunFailed(Exception):
    """A run of the demo has failed; the message says where and why."""


def demo(
    seed: Annotated[int, typer.Option(help="Any whole number.")] = 0,
    sizes: Annotated[
        str, typer.Option(metavar="PX[,PX…]", help="Lengths of the longer side in px.")
    ] = "384,768,1152",
) -> None:
    """Make every benchmark with what costs nothing: images, labels, answers, reports.

    What models paint is made by an offline stand-in, and marked as such everywhere. What is up to
    date is left as it is. Example:

        counterfactory demo --seed 7 --sizes 384,1024
    """
    started = perf_counter()
    from assets.kit.benchmarks import benchmarks
    from assets.kit.partitions import add_painters
    from commands.storage import open_instance
    from definitions import catalog, data_root
    from resources.faults import writing
    from resources.home import Home

    design = _design(seed, sizes)
    painter = _painter()
    home, made = Home(root=data_root()), 0
    with writing(home.root):
        Path(home.root).mkdir(parents=True, exist_ok=True)
    with open_instance() as instance:
        add_painters(instance, catalog)
        maker = _Maker(instance, design)
        # What declares questions is made before what makes cases of them.
        for benchmark in sorted(benchmarks().values(), key=lambda each: not each.yes_no):
            made += maker.make(benchmark, benchmark.stand_in(catalog, painter))
            _show(benchmark, benchmark.made(home, painter))
            report = Path(home.root, "report", benchmark.name, "index.html")
            typer.echo(f"Report: {report}\n")
        maker.confirm()
    seconds = f"{perf_counter() - started:.1f} s"
    typer.echo(
        f"Made by {made} runs in {seconds}. What {painter} painted stands in for models' work."
        if made
        else f"All of this was up to date: nothing was run ({seconds})."
    )
    typer.echo("Now run `make ui` to see it all in Dagster.")


def _design(seed: int, sizes: str) -> Mapping[str, Any]:
    """The config of the resource of that name; raises `ValueError` for what cannot be drawn."""
    from generators.domains import domains
    from resources.design import Design

    try:
        lengths = [int(size) for size in sizes.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(f"{sizes!r} is no list of whole numbers, as in 384,768") from None
    design = Design(seed=seed, sizes=lengths)
    for domain in domains().values():
        design.sizes_for(domain)
    return {"seed": seed, "sizes": lengths}


def _painter() -> str:
    """The painter that stands in; raises `ValueError` where models.yaml lists none."""
    from definitions import catalog

    for model in catalog.models:
        if model.rehearses and {"painter", "editor"} <= set(model.roles):
            return model.name
    raise ValueError(
        f"{catalog.path} lists no painter that runs offline, for the demo spends nothing. Add:\n"
        "- {name: sketch, backend: offline, model: sketch, family: reference, "
        "roles: [painter, editor]}"
    )


class _Maker:
    """Makes what is not up to date, in as few runs and steps as it takes, in this process."""

    def __init__(self, instance: "DagsterInstance", design: Mapping[str, Any]) -> None:
        from commands.environment import ROOT
        from commands.freshness import Freshness, inputs
        from definitions import data_root, defs, models_path, resources_at
        from resources.collections import collections_path
        from resources.taxonomy import taxonomy_path

        self._instance, self._design = instance, design
        self._graph = defs.resolve_asset_graph()
        self._job = defs.resolve_implicit_global_asset_job_def()
        root = Path(data_root())
        own = (models_path(), taxonomy_path(), collections_path())
        edited = (*own, root / "discovered.yaml", *ROOT.glob("*.yaml"))
        self._freshness = Freshness(
            instance,
            self._graph,
            resources_at(str(root))["images"],
            partial(inputs, root, *edited),
        )

    def make(self, benchmark: "Benchmark", runs: Iterable["StandIn"]) -> int:
        """Do those of the runs that are needed, and say how many; raises `RunFailed`."""
        made = 0
        for run in runs:
            config = {
                "ops": {
                    f"{benchmark.name}__{name}": {"config": of} for name, of in run.config.items()
                },
                "resources": {"design": {"config": self._design}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            }
            keys = [_key(benchmark.name, name) for name in run.assets]
            if stale := self._freshness.stale(keys, run.partition, config):
                self._run(benchmark, run.partition, stale, config)
                made += 1
        return made

    def confirm(self) -> None:
        """Note that all is up to date, once it is made."""
        self._freshness.confirm()

    def _run(
        self,
        benchmark: "Benchmark",
        partition: str | None,
        keys: Sequence[Any],
        config: Mapping[str, Any],
    ) -> None:
        from assets.kit.partitions import tags_of

        # Tags and not `partition_key`, which all assets of a run would have to share.
        divisions = [self._graph.get(key).partitions_def for key in keys]
        division = max(divisions, key=lambda each: hasattr(each, "partitions_defs"))
        tags = self._freshness.tags | (tags_of(partition, division) if partition else {})
        what = f"{benchmark.title}{f', {partition}' if partition else ''}"
        with console(errors=True).status(f"{what}: {len(keys)} assets"):
            result = self._job.execute_in_process(
                instance=self._instance,
                tags=tags,
                asset_selection=list(keys),
                run_config=config,
                raise_on_error=False,
            )
        if not result.success:
            raise RunFailed(_failure(result, what))
        self._freshness.used.add(result.run_id)


def _key(*path: str) -> Any:
    from dagster import AssetKey

    return AssetKey(path)


def _failure(result: "ExecuteInProcessResult", what: str) -> str:
    lines = [f"{what} failed:"]
    for event in result.get_step_failure_events():
        error = event.step_failure_data.error
        cause = error.cause if error and error.cause else error
        lines.append(f"- {event.step_key}: {cause.message.strip() if cause else 'unknown'}")
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            lines.append(f"\n{check.check_name}: {check.description}")
            if "wrong" in check.metadata:
                lines.append(str(check.metadata["wrong"].value))
    lines.append(f"The run is {result.run_id}: see its log in `make ui`.")
    return "\n".join(lines)


def _show(benchmark: "Benchmark", rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of what there is, with the sums of all numbers."""
    if not rows:
        return
    name, *numbers = rows[0]
    table = columns(name, *(f"{head}>" for head in numbers), title=benchmark.title)
    total: Counter[str] = Counter()
    for row in rows:
        table.add_row(str(row[name]), *(f"{row[head]:,}" for head in numbers))
        total.update({head: row[head] for head in numbers})
    table.add_section()
    table.add_row("all", *(f"{total[head]:,}" for head in numbers))
    print_table(table)

"""`counterfactory demo`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from assets.kit.benchmarks import Benchmark


def demo(
    seed: Annotated[int, typer.Option(help="Any whole number.")] = 0,
    sizes: Annotated[
        str, typer.Option(metavar="PX[,PX…]", help="Lengths of the longer side in px.")
    ] = "384,768,1152",
) -> None:
    """Make every benchmark with what costs nothing: images, labels, answers, reports.

    What models paint is made by a stand-in, and marked as such everywhere. What is up to
    date is left as it is. Example:

        counterfactory demo --seed 7 --sizes 384,1024
    """
    started = perf_counter()
    from assets.front import FRONT_PAGE
    from assets.kit.benchmarks import StandInRun, load_benchmarks
    from assets.kit.collections import GROUP, list_sample_collections
    from assets.kit.partitions import add_painters
    from assets.release import GROUP as RELEASES
    from commands.demo_runs import AssetGroup, DemoRunner
    from commands.storage import open_instance
    from definitions import catalog
    from resources.faults import write_errors
    from resources.settings.locations import find_data_root
    from resources.storage.atomic_writes import is_remote
    from resources.storage.data_root import DataRoot
    from resources.storage.files import make_folder

    design = _design(seed, sizes)
    painter = _painter()
    home = DataRoot(root=str(find_data_root()))
    with write_errors(home.root):
        make_folder(home.path())
    with open_instance() as instance:
        add_painters(instance, catalog)
        runs = [
            (AssetGroup(benchmark.name, benchmark.title), run)
            for benchmark in load_benchmarks().values()
            for run in benchmark.stand_in_runs(catalog, painter)
        ]
        if sample_names := [sample.name for sample in list_sample_collections().values()]:
            runs.insert(0, (AssetGroup(GROUP, "Photographs"), StandInRun(sample_names)))
        runs += [
            (
                AssetGroup(RELEASES, f"Release of {benchmark.title}"),
                StandInRun(
                    (benchmark.name,),
                    config={benchmark.name: {"partitions": [*benchmark.demo_release]}},
                ),
            )
            for benchmark in load_benchmarks().values()
            if benchmark.demo_release
        ]
        group, name = FRONT_PAGE.path
        run_count = DemoRunner(instance, design).run(
            [*runs, (AssetGroup(group, "Front page"), StandInRun((name,)))]
        )
    group_names = {run_group.name for run_group, _ in runs}
    for benchmark in load_benchmarks().values():
        if benchmark.name not in group_names:
            continue
        _show(benchmark, benchmark.summarize_demo(home, painter))
        typer.echo(f"Report: {home.path('report', benchmark.name, 'index.html')}")
        if benchmark.demo_release:
            typer.echo(f"Released for others to load: {home.path(RELEASES, benchmark.name)}")
        typer.echo()
    seconds = f"{perf_counter() - started:.1f} s"
    typer.echo(
        f"Made by {run_count} runs in {seconds}. What {painter} painted stands in for models' work."
        if run_count
        else f"All of this was up to date: nothing was run ({seconds})."
    )
    typer.echo("Now run `counterfactory ui` (in a checkout `make ui`) to see it all in Dagster.")
    front_page = home.path("report", "index.html")
    typer.echo(f"All reports, a row per judge or metric: {front_page}")
    if is_remote(front_page):
        typer.echo("Copy them to this machine: counterfactory fetch --to FOLDER")


def _design(seed: int, sizes: str) -> Mapping[str, Any]:
    """The config of the resource of that name; raises `ValueError` for what cannot be drawn."""
    from generators.domains import load_domains
    from resources.settings.image_design import ImageDesign

    try:
        lengths = [int(size) for size in sizes.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(f"{sizes!r} is no list of whole numbers, as in 384,768") from None
    design = ImageDesign(seed=seed, sizes=lengths)
    for domain in load_domains().values():
        design.select_sizes(domain)
    return {"seed": seed, "sizes": lengths}


def _painter() -> str:
    """The painter that stands in; raises `ValueError` where models.yaml lists none."""
    from definitions import catalog

    for model in catalog.models:
        if model.is_stand_in and {"painter", "editor"} <= set(model.roles):
            return model.name
    raise ValueError(
        f"{catalog.path} lists no stand-in painter, for the demo spends nothing. Add:\n"
        "- {name: sketch, backend: stand_in, model: sketch, family: stand_in, "
        "roles: [painter, editor]}"
    )


def _show(benchmark: "Benchmark", rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of what there is, with the sums of all numbers."""
    if not rows:
        return
    name, *numbers = rows[0]
    table = build_table(name, *(f"{head}>" for head in numbers), title=benchmark.title)
    total: Counter[str] = Counter()
    for row in rows:
        table.add_row(str(row[name]), *(f"{row[head]:,}" for head in numbers))
        total.update({head: row[head] for head in numbers})
    table.add_section()
    table.add_row("all", *(f"{total[head]:,}" for head in numbers))
    print_table(table)

"""`counterfactory prompts`."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.environment import stores
from commands.options import Config, Partitions, Select, listed, read_config

if TYPE_CHECKING:
    from assets.planning.prompts import Prompt


def prompts(
    select: Select,
    to: Annotated[Path, typer.Option("--to", help="The new file: .csv or .jsonl.", dir_okay=False)],
    partitions: Partitions = None,
    config: Config = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only those that are not painted yet.")
    ] = False,
) -> None:
    """List the prompts that a painter is to paint. Sends nothing.

    With the pictures beside it, under the names in it, the file is the manifest of a painter
    without an API. Example:

        counterfactory prompts protobias/image_pairs -p 'animals|by_hand' --to prompts.csv
    """
    from dagster import DagsterInstance

    from assets.kit.benchmarks import steps_of
    from assets.kit.partitions import add_painters
    from assets.kit.plan import PlanContext
    from assets.planning import choose
    from assets.planning.prompts import prompts_of
    from definitions import catalog, defs, planners

    if to.suffix.lower() not in (".csv", ".jsonl"):
        raise ValueError(f"{to} ends in neither .csv nor .jsonl. Name a file that does.")
    if to.exists():
        raise ValueError(f"{to} is there already. Name a new file: it may be somebody's manifest.")
    given = read_config(config)
    with DagsterInstance.get() as instance, stores(instance) as known:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        chosen = choose(assets, planners, instance, select, listed(partitions), given)
        context = PlanContext(
            known.home, known.images, known.ledger, known.models.calls, chosen.besides
        )
        found = prompts_of(steps_of(catalog), context, chosen.tasks, missing=missing)
    _write(to, found.prompts)
    typer.echo(f"{to}: pictures to be painted: {len(found.prompts):,}.")
    if found.later:
        typer.echo(
            f"Up to {found.later:,} more depend on answers that are not there yet.", err=True
        )
    for asset in found.without:
        typer.echo(f"Materialize {asset} first, to know what else is to be painted.", err=True)
    if found.without:
        raise typer.Exit(1)


def _write(path: Path, found: "Sequence[Prompt]") -> None:
    from resources.models.manifests import COLUMNS
    from resources.spreadsheets import csv_of

    rows = [prompt._asdict() for prompt in found]
    if path.suffix.lower() == ".csv":
        text = csv_of(COLUMNS, rows)
    else:
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    try:
        with path.open("xb") as file, ExitStack() as undoing:
            # A part of a list looks like a whole one.
            undoing.callback(path.unlink)
            file.write(text.encode())
            file.flush()
            undoing.pop_all()
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written ({error.strerror}). Name another file."
        ) from None

"""`counterfactory prompts`."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.environment import build_plan_context, open_stores
from commands.options import Config, Partitions, Select, read_config, split_list

if TYPE_CHECKING:
    from assets.planning.prompts import ListedPrompt


def prompts(
    select: Select,
    output_path: Annotated[
        Path, typer.Option("--to", help="The new file: .csv or .jsonl.", dir_okay=False)
    ],
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

    from assets.kit.benchmarks import build_steps
    from assets.kit.partitions import add_painters
    from assets.planning import select_quoted_tasks
    from assets.planning.prompts import list_prompts
    from definitions import catalog, defs, planners

    if output_path.suffix.lower() not in (".csv", ".jsonl"):
        raise ValueError(f"{output_path} ends in neither .csv nor .jsonl. Name a file that does.")
    if output_path.exists():
        raise ValueError(
            f"{output_path} is there already. Name a new file: it may be somebody's manifest."
        )
    run_config = read_config(config)
    with DagsterInstance.get() as instance, open_stores(instance) as stores:
        add_painters(instance, catalog)
        assets = defs.get_repository_def().assets_defs_by_key
        chosen = select_quoted_tasks(
            assets, planners, instance, select, split_list(partitions), run_config
        )
        context = build_plan_context(stores).with_planned(chosen.planned_configs)
        prompt_list = list_prompts(build_steps(catalog), context, chosen.tasks, missing=missing)
    if prompt_list.prompts or not prompt_list.refused:
        _write(output_path, prompt_list.prompts)
        typer.echo(f"{output_path}: pictures to be painted: {len(prompt_list.prompts):,}.")
    else:
        typer.echo(f"{output_path} is not written: no picture to be painted is known yet.")
    if prompt_list.follow_ups:
        typer.echo(
            f"Up to {prompt_list.follow_ups:,} more depend on answers that are not there yet.",
            err=True,
        )
    for asset in prompt_list.refused:
        typer.echo(f"Materialize {asset} first, to know what else is to be painted.", err=True)
    if prompt_list.refused:
        raise typer.Exit(1)


def _write(path: Path, prompts: "Sequence[ListedPrompt]") -> None:
    from resources.models.manifests import MANIFEST_COLUMNS
    from resources.user_files.spreadsheets import format_csv

    rows = [prompt._asdict() for prompt in prompts]
    if path.suffix.lower() == ".csv":
        text = format_csv(MANIFEST_COLUMNS, rows)
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

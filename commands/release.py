"""`counterfactory release`."""

from pathlib import Path
from typing import Annotated

import typer

from commands.completion import complete_benchmarks
from commands.options import Partitions, split_list
from commands.release_sources import open_release_sources


def release(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK",
            help="One with an asset release/BENCHMARK, such as vlmbias.",
            autocompletion=complete_benchmarks,
        ),
    ],
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="New or empty folder to write to.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="Write nothing: compare a release, and all its rows, with what would be written.",
        ),
    ] = None,
    partitions: Partitions = None,
    licence: Annotated[
        str, typer.Option(metavar="SPDX", help="Licence of what code drew and wrote.")
    ] = "CC-BY-4.0",
    webdataset: Annotated[
        bool, typer.Option("--webdataset", help="Write WebDataset shards as well.")
    ] = False,
) -> None:
    """Write a benchmark with its pictures to one folder, for others to load. Sends nothing.

    Refuses what must not leave, such as rows of stand-ins. Example:

        counterfactory release vlmbias --to vlmbias-release --partitions flags,chess_pieces
    """
    folder = to or check
    if folder is None or (to and check):
        raise typer.BadParameter("Give --to or --check, one of them.")

    try:
        from assets.planning.judge_quote import find_benchmarks
        from assets.release import ReleaseOptions, verify_release, write_release

        (chosen,) = find_benchmarks([benchmark])
        options = ReleaseOptions(
            partitions=split_list(partitions), licence=licence, has_webdataset=webdataset
        )
        with open_release_sources() as sources:
            act = write_release if to else verify_release
            released = act(folder, chosen, sources, options)
    except KeyboardInterrupt:
        outcome = "nothing of the release was kept" if to else "the check is not finished"
        raise KeyboardInterrupt(f"Interrupted: {outcome}.") from None
    for table in released.tables:
        splits = ", ".join(f"{split.name} {split.rows:,}" for split in table.splits)
        typer.echo(f"{table.declaration.config}: {table.rows:,} rows ({splits})")
    for config in released.missing_tables:
        typer.echo(f"{config}: not in it, as nothing that it is made from is materialized")
    for judge in released.results.judges:
        typer.echo(f"results: {judge.judge.name} in {', '.join(task.task for task in judge.tasks)}")
    for sentence in released.results.omissions:
        typer.echo(sentence)
    typer.echo(f"Released to {folder}" if to else f"{folder} is what would be released now")

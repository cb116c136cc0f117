"""`counterfactory export`."""

from typing import Annotated, Any

import typer

from commands.environment import open_stores
from commands.options import Partitions, Select, parse_file_address, split_list


def export(
    select: Select,
    file: Annotated[
        Any,
        typer.Argument(
            metavar="FILE",
            help="The cassette to write, or its address in an object store.",
            parser=parse_file_address,
        ),
    ],
    partitions: Partitions = None,
) -> None:
    """Write the answers behind assets to one file, for others. Sends nothing.

    Example:

        counterfactory export vlmbias/accuracy answers.cassette
    """
    from resources.cassette import export_cassette, require_replaceable

    require_replaceable(file)

    from assets.kit.upstream_calls import find_upstream_calls
    from definitions import catalog, defs
    from resources.settings.locations import find_data_root

    upstream = find_upstream_calls(defs, catalog, select, find_data_root(), split_list(partitions))
    with open_stores(None, "models") as stores:
        models = stores.models
        done = export_cassette(file, upstream.keys, models.calls, models.images, upstream.reviews)
    typer.echo(
        f"{file}: answers: {done.calls:,}, pictures: {done.pictures:,}, review files: "
        f"{', '.join(upstream.reviews) or 'none'}; {done.bytes / 1e6:,.1f} MB."
    )
    if upstream.failed:
        typer.echo(
            f"{upstream.failed:,} rows of these tables failed and have no answer: materialize them "
            "again before, or whoever makes the tables from this file needs a key for the rest."
        )

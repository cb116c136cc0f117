"""`counterfactory import`."""

from typing import Annotated, Any

import typer

from commands.environment import open_stores
from commands.options import parse_file_address


def import_(
    file: Annotated[
        Any,
        typer.Argument(
            metavar="FILE",
            help="The cassette to take in, or its address in an object store.",
            parser=parse_file_address,
        ),
    ],
) -> None:
    """Take the answers of others into the call store. Sends nothing.

    Example:

        counterfactory import answers.cassette
    """
    from resources.cassette import import_cassette
    from resources.settings.locations import find_data_root

    with open_stores(None, "models") as stores:
        models = stores.models
        done = import_cassette(file, models.calls, models.images, find_data_root() / "reviews")
    typer.echo(
        f"{file}: answers: {done.calls:,}, new here: {done.new:,}, pictures: {done.pictures:,}, "
        f"new review files: {done.reviews}."
    )
    if done.others:
        typer.echo(f"{done.others:,} requests have another answer here, which stays.")

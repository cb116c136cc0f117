"""`counterfactory fetch`."""

from pathlib import Path
from typing import Annotated

import typer


def fetch(
    to: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder to write to.", file_okay=False)
    ] = Path("report"),
) -> None:
    """Copy all reports from an object store to this machine, each one whole.

    What the folder has already is not copied again. Example:

        counterfactory fetch --to report
    """
    from assets.report.copies import copy_reports
    from resources.settings.locations import find_data_root
    from resources.storage.atomic_writes import is_remote

    reports = find_data_root() / "report"
    if not is_remote(reports):
        raise ValueError(
            f"COUNTERFACTORY_HOME: the reports lie on this machine. Open {reports / 'index.html'}."
        )
    names = copy_reports(reports, to)
    typer.echo(f"Reports: {', '.join(names)}")
    typer.echo(f"All reports, a row per judge or metric: {(to / 'index.html').absolute()}")

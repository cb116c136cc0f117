"""`counterfactory ui`."""

import os
import socket
import warnings
from typing import Annotated

import click
import typer

from commands.environment import ORIGINS_VARIABLE
from commands.interruption import signal_log

_MODULES = {"dagster_webserver": "commands.webserver", "dagster._daemon": "dagster._daemon"}
"""Commands for the modules that `dagster dev` runs beside the code server."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def ui(
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="TCP port.")] = 3000,
    host: Annotated[
        str, typer.Option(metavar="IP", help="Network interface; by default this machine alone.")
    ] = "127.0.0.1",
    address: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Address at which people open it; may be repeated."),
    ] = None,
) -> None:
    """Show it all in Dagster, which starts runs, sensors and schedules until Ctrl-C ends it.

    Requests from pages of other sites are refused. There is no login: who may open it may start
    runs. Example:

        counterfactory ui --port 3001
    """
    from commands.origin_guard import parse_origin
    from resources.settings.project_folder import find_project_folder

    origins = [parse_origin(written) for written in address or ()]
    if host not in _LOOPBACK and not origins:
        raise ValueError(
            f"--host {host}: other machines reach it, by names that are not known here. Add the "
            f"address that people open: --address http://NAME:{port}"
        )
    _require_free(host, port)
    _serve(str(find_project_folder() / "workspace.yaml"), host, port, origins)


def _require_free(host: str, port: int) -> None:
    """Raise `ValueError` where another program listens: Dagster would run on without a page."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ValueError(
            f"Port {port} of {host}: {error.strerror}. End what listens there, or choose another "
            "port, as in make ui PORT=3001 or counterfactory ui --port 3001"
        ) from None


def _serve(workspace: str, host: str, port: int, origins: list[str]) -> None:
    """Run `dagster dev`, with the guarded webserver instead of its own."""
    from resources.execution.dagster_internals import run_dagster_dev

    os.environ[ORIGINS_VARIABLE] = " ".join(origins)
    # It advises another command, which has no guard.
    warnings.filterwarnings("ignore", "Function `dev_command` is superseded")
    arguments = ["--workspace", workspace, "--host", host, "--port", str(port)]
    try:
        run_dagster_dev(arguments, _MODULES)
    except click.Abort:
        # So click hands on a signal that comes while Dagster's services start.
        raise KeyboardInterrupt from None
    if signal_log.find_interrupt() is None:
        # One of its services has ended by itself, which Dagster logs and does not raise.
        raise typer.Exit(1)

"""The subcommands together, and how each of them ends.

Exit codes: 0 when it is done, 1 when it failed, 2 for a mistake in what was typed or configured,
130 after Ctrl-C and 143 after SIGTERM.
"""

import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from commands.check import check
from commands.compare import compare
from commands.demo import demo
from commands.environment import load_environment
from commands.export import export
from commands.fetch import fetch
from commands.figure import figure
from commands.import_ import import_
from commands.import_answers import import_answers
from commands.init import init
from commands.interruption import signal_log
from commands.judge import judge
from commands.models import models
from commands.prompts import prompts
from commands.prune import prune
from commands.quote import quote
from commands.release import release
from commands.reroll import reroll
from commands.review import review
from commands.run import run
from commands.scores import scores
from commands.ui import ui
from commands.upload import upload

FAILED, MISTAKE = 1, 2
"""Exit codes."""
EXPECTED_ERRORS = (
    ("assets.release.verification", "ReleaseMismatch", FAILED),
    ("builtins", "ValueError", MISTAKE),
    ("resources.models.catalog", "CatalogError", MISTAKE),
    ("resources.user_files.taxonomy_file", "TaxonomyError", MISTAKE),
    ("resources.collections", "CollectionError", MISTAKE),
    ("assets.kit.upstream_calls", "NothingSelected", MISTAKE),
    ("dagster", "DagsterInvalidConfigError", MISTAKE),
    ("dagster", "DagsterError", FAILED),
    ("resources.cassette.archive_format", "BadCassette", MISTAKE),
    ("resources.faults", "StoreError", FAILED),
    ("resources.faults", "ModelError", FAILED),
    ("generators.vector_figures", "PdfUnavailable", FAILED),
    ("assets.release.upload", "UploadFailed", FAILED),
    ("commands.demo_runs", "RunFailed", FAILED),
)
"""Errors whose message says what to do, by module and name; the first that fits counts."""


class _Group(TyperGroup):
    """Subcommands of which each error that a reader can act on is a message, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            typer.echo(str(interrupt) or "Interrupted: what is finished is kept.", err=True)
            raise typer.Exit(signal_log.exit_code) from None
        except Exception as error:
            code = find_exit_code(error)
            if code is None:
                raise
            typer.echo(str(error).strip(), err=True)
            raise typer.Exit(code) from None


class _ProjectCommand(TyperCommand):
    """A subcommand that needs a project, once its arguments are read: not for its help."""

    def invoke(self, ctx: Any) -> Any:
        load_environment()
        return super().invoke(ctx)


def find_exit_code(error: Exception) -> int | None:
    """The exit code of a known error; None for one that typer ends, or that is a bug of ours."""
    for module, name, code in EXPECTED_ERRORS:
        # An error can only be of a class that is loaded: nothing has to be imported for it.
        error_class = getattr(sys.modules.get(module), name, None)
        if error_class is not None and isinstance(error, error_class):
            return code
    return None


app = typer.Typer(
    cls=_Group,
    help="Build benchmarks, have models answer them, and report what comes of it.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init)
for name, command in (
    ("demo", demo),
    ("ui", ui),
    ("quote", quote),
    ("prompts", prompts),
    ("run", run),
    ("judge", judge),
    ("reroll", reroll),
    ("review", review),
    ("models", models),
    ("check", check),
    ("compare", compare),
    ("scores", scores),
    ("fetch", fetch),
    ("release", release),
    ("upload", upload),
    ("export", export),
    ("import", import_),
    ("import-answers", import_answers),
    ("prune", prune),
    ("figure", figure),
):
    app.command(name, cls=_ProjectCommand)(command)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(version("counterfactory"))
        raise typer.Exit


@app.callback()
def _read_options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options before a subcommand."""


def main() -> None:
    """Run the subcommand that the command line names."""
    signal_log.open()
    sys.exit(app(prog_name="counterfactory"))


if __name__ == "__main__":
    main()

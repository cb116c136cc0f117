"""Options that several commands take."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from commands.completion import complete_assets, complete_partitions

Select = Annotated[
    str,
    typer.Argument(
        metavar="SELECT",
        help='Assets, in Dagster\'s words: `vlmbias/accuracy`, `kind:"judge"`, `*`.',
        autocompletion=complete_assets,
    ),
]
Partitions = Annotated[
    list[str] | None,
    typer.Option(
        "--partitions",
        "-p",
        metavar="KEY[,KEY…]",
        help="Their partitions, separated by commas; all that they have by default.",
        autocompletion=complete_partitions,
    ),
]


def parse_file_address(written: str) -> Any:
    """The path of a file, or of its address in an object store (`s3://…`)."""
    from upath import UPath

    from resources.storage.files import open_address

    if "://" in written:
        return open_address(written)
    path = Path(written)
    if path.is_dir():
        raise typer.BadParameter(f"{written} is a folder. Name a file.")
    return UPath(path)


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Run config as YAML, as in Dagster's launchpad.",
    ),
]


def _amount(written: str) -> float:
    from resources.settings.budget import MAX_USD

    try:
        amount = float(written)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MAX_USD:
        raise typer.BadParameter(f"{written} is no amount of US dollars. Write one as in 12.50.")
    return amount


Budget = Annotated[
    float | None,
    typer.Option(parser=_amount, metavar="USD", help="The most that all of it may spend."),
]

NoBudget = Annotated[
    bool, typer.Option("--no-budget", help="Go ahead without a limit on what it spends.")
]


def require_one_budget(budget: float | None, *, no_budget: bool) -> None:
    """Raise `typer.BadParameter` where a budget is given and refused at once."""
    if no_budget and budget is not None:
        raise typer.BadParameter("Give --budget or --no-budget, not both.")


def split_list(partitions: Sequence[str] | None) -> list[str]:
    """The keys of repeated options and of lists with commas, each once.

    Raises `ValueError` for a list that names none, such as an unset variable: without the option
    all would be taken, and paid for.
    """
    keys = [key.strip() for text in partitions or () for key in text.split(",")]
    names = list(dict.fromkeys(filter(None, keys)))
    if partitions and not names:
        raise ValueError(
            "An option that names things is empty. Name some, or leave it out for all."
        )
    return names


def read_config(file: Path | None) -> dict[str, Any]:
    """The run config in a YAML file; raises `ValueError` where it is none."""
    if file is None:
        return {}
    example = (
        "Write a mapping as in Dagster's launchpad: {ops: {vlmbias__questions: {config: {}}}}."
    )
    try:
        config = yaml.safe_load(file.read_bytes())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or str(error).partition(":")[0]
        raise ValueError(f"{file}{line}: cannot be read: {why}. {example}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{file}: holds no mapping. {example}")
    return config

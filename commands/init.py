"""`counterfactory init`."""

from collections.abc import Iterator
from importlib.metadata import version
from os.path import lexists
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from commands.environment import STARTER_FOLDER

_PLACES = {"dagster.yaml": Path(".dagster", "dagster.yaml")}
"""Places of files in a project, where they differ from those in the starter."""


class _StarterFile(NamedTuple):
    path: Path
    """Relative to the project."""
    content: bytes


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the project.")],
) -> None:
    """Write the files of a project: models, collections, concepts, and settings of Dagster.

    No existing file is changed, so that it can be repeated after an upgrade. Example:

        counterfactory init bench
    """
    files = [*_read_starter()]
    existing = [file for file in files if lexists(folder / file.path)]
    differing = [file for file in existing if not _is_same(folder, file)]
    written = [file for file in files if file not in existing]
    for file in written:
        _write(folder / file.path, file.content)
    release = f"those of version {version('counterfactory')}"
    for heading, group in (
        ("Written", written),
        (f"Kept, the same as {release}", [file for file in existing if file not in differing]),
        (f"Kept, other than {release}", differing),
    ):
        if group:
            typer.echo(f"{heading}: {', '.join(str(file.path) for file in group)}")
    is_elsewhere = folder.resolve() != Path.cwd()
    typer.echo(f"Next: {f'cd {folder}, then ' if is_elsewhere else ''}counterfactory demo")


def _read_starter() -> Iterator[_StarterFile]:
    """Read the files of a new project."""
    photographs = (STARTER_FOLDER / "photographs").rglob("*")
    for path in sorted([*STARTER_FOLDER.iterdir(), *photographs]):
        if path.is_file():
            relative = path.relative_to(STARTER_FOLDER)
            yield _StarterFile(_PLACES.get(path.name, relative), path.read_bytes())


def _is_same(folder: Path, file: _StarterFile) -> bool:
    path = folder / file.path
    return path.is_file() and path.read_bytes() == file.content


def _write(path: Path, content: bytes) -> None:
    """Write a new file; raises `ValueError` where the folder does not take it."""
    from resources.storage.atomic_writes import open_atomically

    try:
        with open_atomically(path) as file:
            file.write(content)
    except OSError as error:
        raise ValueError(
            f"{path}: {error.strerror}. Name a folder that you may write to and that has space, or "
            "mend it and repeat: what is written stays."
        ) from None

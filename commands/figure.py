"""`counterfactory figure`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from commands.completion import complete_scenes


class FileType(StrEnum):
    """File format of a figure."""

    PDF = "pdf"
    SVG = "svg"


def figure(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="Such as flags/united-states-stars-add.",
            autocompletion=complete_scenes,
        ),
    ],
    kind: Annotated[FileType, typer.Option(help="File type.")] = FileType.PDF,
    size: Annotated[int, typer.Option(help="Length of the longer side in px.")] = 1152,
    seed: Annotated[int, typer.Option(help="Any whole number.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("figures"),
) -> None:
    """Write one scene as a vector figure for a paper: the SVG its pixels come from, or a PDF.

    Example:

        counterfactory figure flags/united-states-stars-add --kind svg
    """
    from generators.vector_figures import draw_figure as drawn
    from generators.vector_figures import find_scene

    base_scene = find_scene(scene, seed)
    data = drawn(base_scene, size, kind.value)
    version = f"-seed{seed}" if seed else ""
    path = out / f"{base_scene.base_id}-{size}{version}.{kind.value}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise ValueError(
            f"{path}: cannot be written ({error.strerror}). Choose another folder with --out."
        ) from error
    typer.echo(str(path))

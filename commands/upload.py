"""`counterfactory upload`."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def upload(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", exists=True, file_okay=False, help="A release.")
    ],
    repository: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="Data set repository on the hub.")
    ],
    public: Annotated[
        bool, typer.Option("--public", help="Make a new repository public; else it is private.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Upload without asking.")] = False,
) -> None:
    """Show what a release would make public, ask, and upload it to the Hugging Face hub.

    The token is that of `hf auth login` or of HF_TOKEN. An interrupted upload goes on when the
    command runs again. Example:

        counterfactory upload vlmbias-release owner/vlmbias
    """
    if not _REPOSITORY.fullmatch(repository):
        raise typer.BadParameter(f"{repository}: write owner/name.")
    # Plain requests alone: they name each file by the sha256 that was checked.
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        from huggingface_hub import HfApi
    except ImportError:
        raise ValueError(
            "Upload: huggingface_hub is missing. Install it: pipx runpip counterfactory install "
            "'counterfactory[hub]', or in a checkout .venv/bin/pip install -e '.[hub]'"
        ) from None

    from assets.release.upload import (
        check_folder,
        describe_upload,
        find_repository,
        upload_release,
    )

    api = HfApi()
    files = check_folder(folder)
    place = find_repository(api, repository, is_public=public)
    typer.echo(describe_upload(folder, files, place))
    if not yes:
        typer.confirm("Upload?", abort=True)
    commit = upload_release(api, folder, files, place)
    typer.echo(f"Uploaded to {repository}, commit {commit}")

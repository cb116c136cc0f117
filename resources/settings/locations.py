"""Places of the user's files: the data root and models.yaml, by environment variable or default."""

from os import environ
from pathlib import Path

from upath import UPath

from resources.settings.project_folder import find_project_folder
from resources.storage.files import open_address

REPORTS_ROUTE = "/reports"
"""Path at which `counterfactory ui` serves the folder `report` of the data root."""


def find_data_root() -> UPath:
    """Return COUNTERFACTORY_HOME, or the folder `data` of the project.

    It is an absolute path, or an address that fsspec knows. Raises `ValueError` for an address
    without a database server to hold calls and finished work, for a file, and for a link to a
    missing folder.
    """
    home = environ.get("COUNTERFACTORY_HOME") or str(find_project_folder() / "data")
    if "://" in home and not home.startswith("file://"):
        _require_server(home)
        return open_address(home.rstrip("/"))
    folder = Path(home.removeprefix("file://")).expanduser()
    if folder.is_symlink() and not folder.exists():
        raise ValueError(
            f"COUNTERFACTORY_HOME is {folder}, a link to {folder.readlink()}, which is not there. "
            "Mount or restore it: the answers that were paid for lie in it."
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(
            f"COUNTERFACTORY_HOME is {folder}, which is a file: set it to a folder, also a new one."
        )
    return UPath(folder.resolve())


def _require_server(home: str) -> None:
    if not environ.get("COUNTERFACTORY_CALLS", "").startswith("postgres"):
        raise ValueError(
            f"COUNTERFACTORY_HOME is {home}, an address, and an object store holds no database. "
            "Set COUNTERFACTORY_CALLS to postgresql://user:password@host/database, which keeps "
            "calls and finished work for all machines, or COUNTERFACTORY_HOME to a folder."
        )


def find_models_path() -> Path:
    """Return COUNTERFACTORY_MODELS, or models.yaml of the project."""
    return Path(environ.get("COUNTERFACTORY_MODELS") or find_project_folder() / "models.yaml")

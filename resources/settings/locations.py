"""Places of the user's files: the data root and models.yaml, by environment variable or default."""

from os import environ
from pathlib import Path

_PROJECT = Path(__file__).parents[2]


def find_data_root() -> Path:
    """Return COUNTERFACTORY_HOME, or the folder `data` beside definitions.py; always absolute.

    Raises `ValueError` for an address, and for a link to a missing folder.
    """
    home = environ.get("COUNTERFACTORY_HOME") or _PROJECT / "data"
    if "://" in str(home):
        raise ValueError(
            f"COUNTERFACTORY_HOME is {home}, which is not a folder of this machine. Set it to one: "
            "what was drawn and measured is remembered in a database that needs a local disk."
        )
    folder = Path(home).expanduser()
    if folder.is_symlink() and not folder.exists():
        raise ValueError(
            f"COUNTERFACTORY_HOME is {folder}, a link to {folder.readlink()}, which is not there. "
            "Mount or restore it: the answers that were paid for lie in it."
        )
    return folder.resolve()


def find_models_path() -> Path:
    """Return COUNTERFACTORY_MODELS, or models.yaml beside definitions.py."""
    return Path(environ.get("COUNTERFACTORY_MODELS") or _PROJECT / "models.yaml")

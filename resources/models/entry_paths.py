"""The data root, for what an entry of models.yaml names by a relative path."""

from os import environ
from pathlib import Path

_BESIDE = Path(__file__).parents[2] / "data"


def find_data_root() -> Path:
    """COUNTERFACTORY_HOME, or the folder `data` beside the project's folders."""
    return Path(environ.get("COUNTERFACTORY_HOME") or _BESIDE).expanduser()

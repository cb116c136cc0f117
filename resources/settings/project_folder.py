"""The project's folder: what a user edits, and by default the data and Dagster's instance.

It imports nothing that takes time, since shell completion needs it.
"""

import os
from pathlib import Path

CODE_FOLDER = Path(__file__).parents[2]
"""Folder of definitions.py: a checkout, or the place where an installer puts packages."""
VARIABLE = "COUNTERFACTORY_PROJECT"
_MARKS = ("models.yaml", "workspace.yaml")


class NoProject(ValueError):
    """No folder with the files of a project is known; the message says how to make one."""


def find_project_folder() -> Path:
    """Return COUNTERFACTORY_PROJECT, else the current folder, else the checkout.

    A project has models.yaml and workspace.yaml, as `counterfactory init` writes them. Raises
    `NoProject` where the variable names a folder without them, or none of the other two has them.
    """
    if named := os.environ.get(VARIABLE):
        folder = Path(named).expanduser().absolute()
        if not _is_project(folder):
            raise NoProject(
                f"{VARIABLE} is {named}, a folder without {' and '.join(_MARKS)}. Correct it, or "
                f"write them: counterfactory init {named}"
            )
        return folder
    for folder in (Path.cwd(), CODE_FOLDER):
        if _is_project(folder):
            return folder
    raise NoProject(
        f"{Path.cwd()} is no project: it lacks {' and '.join(_MARKS)}. Go to the folder of your "
        "project, or make one: counterfactory init FOLDER"
    )


def _is_project(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _MARKS)

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
    `NoProject` where the variable names a folder without them, the current folder has only one of
    them, or no folder has any. With COUNTERFACTORY_MODELS, a models.yaml alone is no sign of a
    project.
    """
    if named := os.environ.get(VARIABLE):
        folder = Path(named).expanduser().absolute()
        if not _is_project(folder):
            raise NoProject(
                f"{VARIABLE} is {named}, a folder without {' and '.join(_MARKS)}. Correct it, or "
                f"write them: counterfactory init {named}"
            )
        return folder
    current = Path.cwd()
    missing = [name for name in _MARKS if not (current / name).is_file()]
    if not missing:
        return current
    marks = [name for name in _MARKS if name not in missing]
    if marks and not (marks == ["models.yaml"] and os.environ.get("COUNTERFACTORY_MODELS")):
        raise NoProject(
            f"{current} lacks {', '.join(missing)}, and the rest of a project is there. Restore "
            "it, or have it written: counterfactory init ."
        )
    if _is_project(CODE_FOLDER):
        return CODE_FOLDER
    raise NoProject(
        f"{current} is no project: it lacks {' and '.join(_MARKS)}. Go to the folder of your "
        "project, or make one: counterfactory init FOLDER"
    )


def _is_project(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _MARKS)

"""The project's folder: which it is, and what is said where there is none."""

from pathlib import Path

import pytest

from resources.collections import collections_path
from resources.settings import project_folder
from resources.settings.locations import find_data_root, find_models_path
from resources.settings.project_folder import NoProject, find_project_folder
from resources.user_files.taxonomy_file import find_taxonomy_path

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "bench"
    folder.mkdir()
    for name in ("models.yaml", "workspace.yaml"):
        (folder / name).touch()
    return folder


def test_the_variable_goes_before_the_current_folder_and_that_before_the_checkout(
    project, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert find_project_folder() == PROJECT
    monkeypatch.chdir(project)
    assert find_project_folder() == project
    monkeypatch.setenv("COUNTERFACTORY_PROJECT", str(PROJECT))
    assert find_project_folder() == PROJECT


def test_all_files_of_a_project_are_found_in_it(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.delenv("COUNTERFACTORY_HOME")
    found = [str(find_data_root()), find_models_path(), find_taxonomy_path(), collections_path()]
    names = ["data", "models.yaml", "taxonomy.yaml", "collections.yaml"]
    assert found == [str(project / "data"), *(project / name for name in names[1:])]


def test_an_installed_program_without_a_project_says_how_to_make_one(tmp_path, monkeypatch):
    monkeypatch.setattr(project_folder, "CODE_FOLDER", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoProject, match=f"^{tmp_path} is no project.*counterfactory init FOLDER$"):
        find_project_folder()


@pytest.mark.parametrize("name", ["models.yaml", "workspace.yaml"])
def test_a_project_that_lacks_a_file_is_not_replaced_by_the_checkout(project, monkeypatch, name):
    (project / name).unlink()
    monkeypatch.chdir(project)
    message = f"^{project} lacks {name}, and the rest of a project is there.*counterfactory init .$"
    with pytest.raises(NoProject, match=message):
        find_project_folder()


def test_a_models_file_that_the_variable_names_makes_no_project(project, monkeypatch):
    (project / "workspace.yaml").unlink()
    monkeypatch.chdir(project)
    monkeypatch.setenv("COUNTERFACTORY_MODELS", str(project / "models.yaml"))
    assert find_project_folder() == PROJECT


def test_a_variable_that_names_no_project_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_PROJECT", str(tmp_path))
    with pytest.raises(NoProject, match=f"counterfactory init {tmp_path}$"):
        find_project_folder()

"""A run goes by the last content of an edited file that could be read; a person hears of it."""

import json
import multiprocessing
import os

import pytest

from resources.models.catalog import CatalogError, CatalogFiles
from resources.user_files import edited_files
from resources.user_files.edited_files import fallback_warnings

ENTRY = {"name": "gpt", "backend": "openai", "model": "gpt", "family": "gpt", "roles": ["judge"]}
GOOD = f"- {json.dumps(ENTRY)}\n"
BROKEN = {
    "a typing mistake": GOOD.replace("openai", "opena"),
    "half of it": GOOD[: len(GOOD) // 2],
    "no file": None,
}


@pytest.fixture
def files(tmp_path):
    files = CatalogFiles(tmp_path / "models.yaml", tmp_path / "discovered.yaml")
    files.models.write_text(GOOD)
    assert [model.name for model in files.load().models] == ["gpt"]
    return files


def names_in_run(files):
    """The models that a process of a run has, and what it says of that."""
    with multiprocessing.get_context("fork").Pool(1) as process:
        return process.apply(_names, [files])


def _names(files):
    return [model.name for model in files.load().models], fallback_warnings


def write(path, text):
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_run_goes_by_what_was_read_last_and_says_so_while_a_person_hears_of_it(files, text):
    write(files.models, text)
    with pytest.raises(CatalogError):
        files.load()
    names, warnings = names_in_run(files)
    assert names == ["gpt"]
    [warning] = warnings
    assert warning.startswith(f"This run uses the last readable content of {files.models}.")
    assert len(warning.splitlines()) > 1 or text is None, "and what is wrong with it"


def test_a_run_takes_what_can_be_read_and_nothing_from_another_file(files, tmp_path):
    files.models.write_text(GOOD.replace('"name": "gpt"', '"name": "new"'))
    assert names_in_run(files) == (["new"], [])
    other = CatalogFiles(tmp_path / "other.yaml", files.discovered)
    other.models.write_text(BROKEN["half of it"])
    with pytest.raises(CatalogError):
        names_in_run(other)


def test_an_emptied_file_is_not_what_a_run_falls_back_to(files):
    """As an editor leaves it for a moment, before it writes."""
    files.models.write_text("")
    assert files.load().models == ()
    files.models.write_text(BROKEN["half of it"])
    assert names_in_run(files)[0] == ["gpt"]


def test_the_process_that_steps_are_forked_from_is_one_of_a_run(files, monkeypatch):
    files.models.write_text(BROKEN["half of it"])
    monkeypatch.setattr(edited_files, "fallback_warnings", [])
    monkeypatch.setitem(edited_files.sys.modules, edited_files.FORKED_STEPS, os)
    assert [model.name for model in files.load().models] == ["gpt"]

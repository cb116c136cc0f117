"""`counterfactory export`, `import` and `prune`."""

import os
from contextlib import closing
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from resources.calls import CallStore
from resources.faults import DiskFull
from resources.storage.garbage_collector import GarbageCollector
from resources.storage.image_store import ImageStore
from tests.resources.cassette.cassettes import looked, painted, png_of

ENTRY = "- {name: j, backend: openai, model: vlm-1, family: some, roles: [judge]}"
LONG_AGO = 1_700_000_000


@pytest.fixture
def run(command, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return partial(command, models=ENTRY)


@pytest.fixture
def data(tmp_path):
    """A data root with an answer that a table names, and one with a picture that none does."""
    root = tmp_path / "data"
    images = ImageStore(root=str(root))
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        calls.keep([looked(1), painted(2, images)])
    unused = images.path(images.put(png_of(3)))
    for path in root.rglob("*.png"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    table = root / "vlmbias" / "answers_j" / "flags.parquet"
    table.parent.mkdir(parents=True)
    pq.write_table(pa.table({"calls": [[looked(1).key]], "outcome": ["failed"]}), table)
    return unused


def keys(root):
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        return set(calls.iterate_keys())


@pytest.mark.parametrize("folder", ["{}/out", "memory:/{}/out"])
def test_it_exports_and_imports_and_says_how_much(run, data, tmp_path, folder):
    file = folder.format(tmp_path) + "/answers.cassette"
    done = run("export", "vlmbias/accuracy", file, "--partitions", "flags")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    assert f"{file}: answers: 1, pictures: 0, review files: none" in done.stdout
    assert "1 rows of these tables failed and have no answer" in done.stdout

    done = run("import", file, COUNTERFACTORY_HOME=tmp_path / "other")
    assert done.exit_code == 0, done.stderr
    assert "answers: 1, new here: 1" in done.stdout
    assert keys(tmp_path / "other") == {looked(1).key}


def test_what_cannot_be_exported_is_named(run, data, tmp_path):
    done = run("export", "vlmbias/questions", "answers.cassette")
    assert done.exit_code == 2
    assert "No stored answer is behind vlmbias/questions" in done.stderr
    assert not (tmp_path / "answers.cassette").exists()
    done = run("export", "vlmbias/questions", tmp_path)
    assert done.exit_code == 2
    assert "is a folder." in " ".join(done.stderr.replace("│", "").split())


def test_what_is_no_cassette_is_a_mistake_and_is_named(run, data, tmp_path):
    (tmp_path / "answers.cassette").write_bytes(b"no zip")
    done = run("import", "answers.cassette")
    assert done.exit_code == 2
    assert "answers.cassette cannot be taken: its end: it is cut short" in done.stderr


def test_it_shows_first_then_removes_what_costs_nothing_then_what_was_paid_for(run, data, tmp_path):
    done = run("prune")
    assert done.exit_code == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "pictures that nothing refers to 1 0.0 MB --remove claims" in shown
    assert "no booked cost; 1 without a booking 1 --remove --calls pictures" in shown
    assert data.exists()
    assert len(keys(tmp_path / "data")) == 2

    assert run("prune", "--remove").exit_code == 0
    assert not data.exists()
    assert len(keys(tmp_path / "data")) == 2
    assert len(list(tmp_path.rglob("*.png"))) == 1

    assert run("prune", "--remove", "--calls").exit_code == 0
    assert keys(tmp_path / "data") == {looked(1).key}
    assert not list(tmp_path.rglob("*.png"))


def test_nothing_is_removed_while_a_run_is_in_progress(run, data, tmp_path):
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        started = create_run_for_test(instance, status=DagsterRunStatus.STARTED)
    done = run("prune", "--remove")
    assert done.exit_code == 1
    assert f"Runs are in progress ({started.run_id})" in done.stderr
    assert data.exists()


def test_what_could_not_be_removed_is_not_said_to_be(run, data, monkeypatch):
    def full(*_, **__):
        raise DiskFull("No space is left.")

    monkeypatch.setattr(GarbageCollector, "remove", full)
    done = run("prune", "--remove")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "No space is left." in done.stderr


def test_paid_answers_are_not_asked_for_without_remove(run, data):
    done = run("prune", "--calls")
    assert done.exit_code == 2
    assert "look at what would be removed first" in done.stderr

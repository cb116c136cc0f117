"""cassette.py and collect.py as a user runs them."""

import os
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from resources.calls import CallStore
from resources.images import ImageStore
from tests.resources.cassettes import looked, painted, png_of
from tests.scripts import Scripts

ENTRY = "- {name: j, backend: openai, model: vlm-1, family: some, roles: [judge]}"
LONG_AGO = 1_700_000_000


@pytest.fixture(scope="module")
def scripts():
    with closing(Scripts()) as scripts:
        yield scripts


@pytest.fixture
def run(scripts):
    def run(folder, script, *arguments):
        (folder / "models.yaml").write_text(ENTRY)
        (folder / "instance").mkdir(exist_ok=True)
        return scripts.run(
            script,
            *arguments,
            without="OPENAI_API_KEY",
            DAGSTER_HOME=folder / "instance",
            COUNTERFACTORY_HOME=folder / "data",
            COUNTERFACTORY_MODELS=folder / "models.yaml",
        )

    return run


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
    return tmp_path, unused


def keys(folder):
    with closing(CallStore(url=f"sqlite:///{folder}/data/calls.sqlite")) as calls:
        return set(calls.all_keys())


def test_it_exports_and_imports_and_says_how_much(run, data, tmp_path):
    folder, _ = data
    file = tmp_path / "out" / "answers.cassette"
    select = ("--select", "vlmbias/accuracy", "--partitions", "flags")
    done = run(folder, "cassette.py", "export", *select, "--", file)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"{file}: answers: 1, pictures: 0, review files: none" in done.stdout
    assert "1 rows of these tables failed and have no answer" in done.stdout

    other = tmp_path / "other"
    other.mkdir()
    done = run(other, "cassette.py", "import", file)
    assert done.returncode == 0, done.stderr
    assert "answers: 1, new here: 1" in done.stdout
    assert keys(other) == {looked(1).key}


def test_what_cannot_be_exported_or_imported_fails_and_is_named(run, data):
    folder, _ = data
    file = folder / "answers.cassette"
    done = run(folder, "cassette.py", "export", "--select", "vlmbias/questions", file)
    assert done.returncode == 1
    assert "No stored answer is behind vlmbias/questions" in done.stderr
    assert not file.exists()
    file.write_bytes(b"no zip")
    done = run(folder, "cassette.py", "import", file)
    assert done.returncode == 1
    assert f"{file} cannot be taken: its end: it is cut short" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_shows_first_then_removes_what_costs_nothing_then_what_was_paid_for(run, data):
    folder, unused = data
    done = run(folder, "collect.py")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "pictures that nothing refers to 1 0.0 MB REMOVE=1 claims" in shown
    assert "no booked cost; 1 without a booking 1 REMOVE=1 CALLS=1 pictures" in shown
    assert unused.exists()
    assert len(keys(folder)) == 2

    assert run(folder, "collect.py", "--remove").returncode == 0
    assert not unused.exists()
    assert len(keys(folder)) == 2
    assert len(list(folder.rglob("*.png"))) == 1

    assert run(folder, "collect.py", "--remove", "--calls").returncode == 0
    assert keys(folder) == {looked(1).key}
    assert not list(folder.rglob("*.png"))


def test_nothing_is_removed_while_a_run_is_in_progress(run, data):
    folder, unused = data
    (folder / "instance").mkdir()
    with DagsterInstance.from_config(str(folder / "instance")) as instance:
        started = create_run_for_test(instance, status=DagsterRunStatus.STARTED)
    done = run(folder, "collect.py", "--remove")
    assert done.returncode == 1
    assert f"Runs are in progress ({started.run_id})" in done.stderr
    assert unused.exists()


def test_paid_answers_are_not_asked_for_without_remove(run, data):
    folder, _ = data
    done = run(folder, "collect.py", "--calls")
    assert done.returncode == 2
    assert "CALLS=1 is for REMOVE=1" in done.stderr

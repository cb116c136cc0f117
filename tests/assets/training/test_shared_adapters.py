"""An adapter that one machine trains and another one uses: they share a store and a database."""

import logging
import tempfile
from contextlib import closing, contextmanager
from hashlib import sha256

import pyarrow as pa
import pytest

from assets.kit.pair_marks import add_marks, build_marks, load_mark_finder
from assets.kit.tuning import load_adapter_marks
from assets.training import fitting
from resources.faults import StoreBusy
from resources.models.backends.adapters import BadRecord, resolve_adapter_folder
from resources.models.replies import ModelUnavailable
from resources.storage.atomic_writes import write_atomically
from resources.storage.data_root import DataRoot
from resources.storage.files import fetch, list_folder, read_file, remove_file
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.training import launch
from resources.training.adapter_publication import rewrite_results, write_card
from resources.training.recipe import RankingRecipe
from tests.assets.kit.test_pair_marks import pair
from tests.postgres import Postgres, installed
from tests.resources.training.small import QUICK, SIDES, pairs, replies, save_base

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not installed(), reason="no PostgreSQL server is installed"),
]

ADDRESS = "s3://pictures/home"
LOG = logging.getLogger("shared")


@pytest.fixture(scope="module")
def database():
    with Postgres() as server:
        yield server.database()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_base(tmp_path_factory.mktemp("base") / "llava")


@pytest.fixture
def machines(s3, database, monkeypatch, tmp_path):
    """Enters a machine by its name: nothing but its temporary folder is its own."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", ADDRESS)
    monkeypatch.setenv("COUNTERFACTORY_CALLS", database)

    @contextmanager
    def enter(name):
        (tmp_path / name).mkdir(exist_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path / name))
            with closing(WorkCache(root=ADDRESS, calls_url=database)) as work_cache:
                yield work_cache

    return enter


def fit(base, rows, work_cache):
    """The adapter that these rows give in two steps."""
    return fitting.fit_adapter(
        "small",
        "ranking",
        RankingRecipe(base=str(base), steps=2, save_steps=1, **QUICK),
        pa.Table.from_pylist(rows),
        [row[side] for row in rows for side in SIDES],
        8,
        DataRoot(root=ADDRESS),
        ImageStore(root=ADDRESS),
        work_cache,
        LOG,
        painters=["sketch"],
        is_stand_in=True,
    )


def test_what_one_machine_has_trained_another_one_uses(machines, base, tmp_path, monkeypatch):
    rows = [{"pair": f"p{number}", **row} for number, row in enumerate(pairs(ADDRESS, 8))]
    with machines("first") as work_cache:

        def refuse_another(*_):
            """Stand for the training: meanwhile another machine begins the same, then a kill."""
            with machines("second") as others, pytest.raises(StoreBusy, match="Another run trains"):
                fit(base, rows, others)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(launch, "run_training", refuse_another)
            with pytest.raises(KeyboardInterrupt):
                fit(base, rows, work_cache)
        fitted = fit(base, rows, work_cache)
        assert fitted.adapter.startswith("adapters/small-")
        add_marks(fitted.place, {"training": [pair("cat")]})
        write_card(fitted.place, "It scores.", [{"metric": "small"}], "- name: small\n", ["More."])
        # Which requests share a batch is a matter of time, and the last digits are of the batch.
        by_first = pytest.approx(scores(base, rows, fitted.adapter), abs=1e-6)

    with machines("second") as work_cache, monkeypatch.context() as patch:
        patch.setattr(launch, "run_training", lambda *_: pytest.fail("It was trained again."))
        again = fit(base, rows, work_cache)
        assert again.record["weights"] == fitted.record["weights"]
        weights = read_file(again.place / "adapter_model.safetensors")
        assert sha256(weights).hexdigest() == fitted.record["weights"]
        assert scores(base, rows, fitted.adapter) == by_first
        # As by a copy of the folder that somebody has made with another program.
        (tmp_path / "copy").mkdir()
        for path in list_folder(again.place):
            (tmp_path / "copy" / path.name).write_bytes(read_file(path))
        assert scores(base, rows, str(tmp_path / "copy")) == by_first
        assert scores(base, rows, None) != by_first
        finder = load_mark_finder(resolve_adapter_folder(fitted.adapter))
        assert {finder(mark) for mark in build_marks(pair("cat"))} == {
            "sketch/animals/cat/0 (training)"
        }
        assert load_adapter_marks(DataRoot(root=ADDRESS), fitted.adapter) is None
        rewrite_results(again.place, [{"metric": "judged"}])
        assert "| judged |" in (fetch(again.place) / "README.md").read_text()

    with machines("first") as work_cache:
        # Somebody has written over the weights, then removed them.
        weights = fitted.place / "adapter_model.safetensors"
        write_atomically(weights, read_file(weights)[:-1])
        with pytest.raises(BadRecord, match=f"^{weights}: it is not the one that record.json is"):
            fit(base, rows, work_cache)
        with pytest.raises(ModelUnavailable, match=f"^{weights}: it is not the one"):
            replies(ADDRESS, base, rows[:1], adapter=fitted.adapter)
        remove_file(weights)
        with pytest.raises(ModelUnavailable, match=f"has the adapter {fitted.place}, which is no"):
            replies(ADDRESS, base, rows[:1], adapter=fitted.adapter)
        # What was killed before its record was written is none, and is written over.
        for path in list_folder(fitted.place):
            remove_file(path)
        write_atomically(weights, b"half")
        assert fit(base, rows, work_cache).record == fitted.record


def scores(base, rows, adapter):
    """What the base with an adapter gives the pictures."""
    known = {} if adapter is None else {"adapter": adapter}
    return [reply.score for reply in replies(ADDRESS, base, rows[:2], **known)]

"""Judges that were trained: what they were trained on is evaluated in no benchmark."""

from hashlib import sha256
from logging import getLogger

import pytest

from assets.frame.combined import CombinedScores
from assets.frame.pairwise import Pairwise
from assets.frame.scores import FrameScores
from assets.kit.limits import LimitConfig
from assets.kit.step_asset import query_models
from assets.kit.step_run import StepRun
from assets.kit.table_asset import TablesMismatch
from assets.philautia.captions import CaptionStep
from assets.philautia.scores import CaptionScoreStep
from assets.vhexpansion.answers import YesNoAnswers
from assets.vlmbias.answers import CountingAnswers
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.asked import adapter_below

ADAPTER = "adapters/tuned-0"
PICTURE, SCENE = sha256(b"picture").hexdigest(), "flags/france-add"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Work of a partition below a data root, which has an adapter that was trained on a scene."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    assert adapter_below(tmp_path, PICTURE, SCENE) == ADAPTER
    root = str(tmp_path)
    places = {"home": DataRoot(root=root), "images": ImageStore(root=root)}
    work_cache = WorkCache(root=root)
    return StepRun(
        "flags",
        LimitConfig(),
        {},
        {},
        **places,
        work_cache=work_cache,
        log=getLogger(__name__),
        find_table=None,
    )


def asked(step, rows, **parameters):
    """A step of such rows."""
    known = {"name": "tuned", "model": "some/model", "family": "some", "parameters": parameters}
    entry = Model(backend="transformers", roles=("judge", "captioner"), **known)
    made = step(Catalog((entry,)), entry)
    made.rows = lambda work: iter(rows)
    return made


def row(image_id, digest, **more):
    return {"image_id": image_id, "sha256": digest, "outcome": "biased", **more}


OTHER = row("flags/japan-add/768", sha256(b"other").hexdigest(), base_id="flags/japan-add")
SEEN = [
    row("flags/france-add/768", PICTURE),
    row("flags/france-add/384", sha256(b"smaller").hexdigest(), base_id=SCENE),
]


@pytest.mark.parametrize(
    "step", [CountingAnswers, FrameScores, Pairwise, CombinedScores, CaptionStep, CaptionScoreStep]
)
@pytest.mark.parametrize("seen", SEEN)
def test_one_is_asked_about_nothing_where_it_was_trained_on_some(work, step, seen):
    with pytest.raises(TablesMismatch) as refused:
        asked(step, [OTHER, seen], adapter=ADAPTER).require(work)
    assert str(refused.value).startswith(
        f"1 pictures of flags are among those that {ADAPTER} was trained on: {seen['image_id']}. "
        "tuned is not asked about any picture of"
    )


def test_nothing_is_asked_about_the_portions_before(work, monkeypatch):
    """Here there is no client that it could be asked by, and each row is a portion of its own."""
    monkeypatch.setattr("assets.kit.step.PORTION", 1)
    step = asked(FrameScores, [OTHER, SEEN[0]], adapter=ADAPTER)
    with pytest.raises(TablesMismatch):
        query_models(step, work, None, None)


@pytest.mark.parametrize(
    "step", [CountingAnswers, FrameScores, Pairwise, CombinedScores, CaptionStep, CaptionScoreStep]
)
def test_others_are_asked(work, step):
    asked(step, [OTHER], adapter=ADAPTER).require(work)
    asked(step, [OTHER, *SEEN]).require(work)


def test_where_such_rows_are_left_out_of_all_numbers_they_are_asked_about(work):
    asked(YesNoAnswers, SEEN, adapter=ADAPTER).require(work)

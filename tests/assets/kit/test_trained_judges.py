"""Judges that were trained: what they were trained on is evaluated in no benchmark."""

from hashlib import sha256
from logging import getLogger

import pytest

from assets.frame.combined import Combined
from assets.frame.pairwise import Pairwise
from assets.frame.scores import Scores as FrameScores
from assets.kit.limits import Limited
from assets.kit.materializing import query
from assets.kit.step import Work
from assets.kit.table_asset import Mismatch
from assets.philautia.captions import Captions
from assets.philautia.scores import Scores
from assets.vhexpansion.answers import Answers as YesNoAnswers
from assets.vlmbias.answers import Answers
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model
from tests.assets.asked import adapter_below

ADAPTER = "adapters/tuned-0"
PICTURE, SCENE = sha256(b"picture").hexdigest(), "flags/france-add"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Work of a partition below a data root, which has an adapter that was trained on a scene."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    assert adapter_below(tmp_path, PICTURE, SCENE) == ADAPTER
    root = str(tmp_path)
    places = {"home": Home(root=root), "images": ImageStore(root=root)}
    ledger = WorkLedger(root=root)
    return Work(
        "flags", Limited(), {}, {}, **places, ledger=ledger, log=getLogger(__name__), find=None
    )


def asked(step, rows, **parameters):
    """A step of such rows, each in a portion of its own."""
    known = {"name": "tuned", "model": "some/model", "family": "some", "parameters": parameters}
    entry = Model(backend="transformers", roles=("judge", "captioner"), **known)
    made = step(Catalog((entry,)), entry)
    made.portions = lambda work: ([row] for row in rows)
    return made


def row(image_id, digest, **more):
    return {"image_id": image_id, "sha256": digest, "outcome": "biased", **more}


OTHER = row("flags/japan-add/768", sha256(b"other").hexdigest(), base_id="flags/japan-add")
SEEN = [
    row("flags/france-add/768", PICTURE),
    row("flags/france-add/384", sha256(b"smaller").hexdigest(), base_id=SCENE),
]


@pytest.mark.parametrize("step", [Answers, FrameScores, Pairwise, Combined, Captions, Scores])
@pytest.mark.parametrize("seen", SEEN)
def test_one_is_asked_about_nothing_where_it_was_trained_on_some(work, step, seen):
    with pytest.raises(Mismatch) as refused:
        asked(step, [OTHER, seen], adapter=ADAPTER).require(work)
    assert str(refused.value).startswith(
        f"1 pictures of flags are among those that {ADAPTER} was trained on: {seen['image_id']}. "
        "tuned is asked about none of them, nor about the others"
    )


def test_nothing_is_asked_about_the_portions_before(work):
    """Here there is no client that it could be asked by."""
    step = asked(FrameScores, [OTHER, SEEN[0]], adapter=ADAPTER)
    with pytest.raises(Mismatch):
        query(step, work, None, None)


@pytest.mark.parametrize("step", [Answers, FrameScores, Pairwise, Combined, Captions, Scores])
def test_others_are_asked(work, step):
    asked(step, [OTHER], adapter=ADAPTER).require(work)
    asked(step, [OTHER, *SEEN]).require(work)


def test_where_such_rows_are_left_out_of_all_numbers_they_are_asked_about(work):
    asked(YesNoAnswers, SEEN, adapter=ADAPTER).require(work)

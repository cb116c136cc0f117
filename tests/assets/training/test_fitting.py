"""What is looked at before a training: the cheap things first."""

from logging import getLogger

import pyarrow as pa
import pytest

from assets.training import fitting
from resources.home import Home
from resources.images import ImageStore
from resources.models.weights import Weights
from resources.training.faults import TrainingError
from resources.training.recipe import RankingRecipe
from tests.resources.training.test_base import saved, seven_billion


@pytest.mark.parametrize("may_be_here", [False, True])
def test_what_cannot_be_trained_here_is_refused_before_its_weights_are_read(
    tmp_path, monkeypatch, may_be_here
):
    base, read = tmp_path / "base", []
    base.mkdir()
    saved(base, seven_billion())
    if may_be_here:
        (tmp_path / "adapters" / "small-0").mkdir(parents=True)
    monkeypatch.setattr(fitting, "machine", lambda: (False, 8.0))
    monkeypatch.setattr(Weights, "digest", property(lambda weights: read.append(weights) or "0"))
    store = {"home": Home(root=str(tmp_path)), "images": ImageStore(root=str(tmp_path))}
    with pytest.raises(TrainingError, match="cannot be trained here: torch finds no GPU"):
        fitting.fitted(
            "small",
            "ranking",
            RankingRecipe(base=str(base)),
            pa.table({"pair": ["a"]}),
            [],
            160_000,
            **store,
            log=getLogger(__name__),
        )
    assert len(read) == may_be_here

"""What is looked at before a training: the cheap things first."""

import json
import logging
from logging import getLogger

import pyarrow as pa
import pytest

from assets.training import fitting
from resources.faults import MissingItem
from resources.models.backends.adapters import BadRecord, read_record
from resources.models.weights import Weights
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.training.job import build_terms, build_wording
from resources.training.recipe import RankingRecipe
from resources.training.training_errors import TrainingError
from tests.adapters import adapter_record
from tests.resources.training.test_base_model import saved, seven_billion


def fitted_in(root, images, pictures, **recipe):
    """The adapter of a base below a root, of these pictures."""
    return fitting.fit_adapter(
        "small",
        "ranking",
        RankingRecipe(base=str(root / "base"), **recipe),
        pa.table({"pair": ["a"]}),
        pictures,
        160_000,
        DataRoot(root=str(root)),
        images,
        WorkCache(root=str(root)),
        getLogger(__name__),
    )


@pytest.mark.parametrize("may_be_here", [False, True])
def test_what_cannot_be_trained_here_is_refused_before_its_weights_are_read(
    tmp_path, monkeypatch, may_be_here, caplog
):
    base, read = tmp_path / "base", []
    base.mkdir()
    saved(base, seven_billion())
    if may_be_here:
        (tmp_path / "adapters" / "small-0").mkdir(parents=True)
    monkeypatch.setattr(fitting, "inspect_machine", lambda: (False, 8.0))
    monkeypatch.setattr(Weights, "digest", property(lambda weights: read.append(weights) or "0"))
    with (
        caplog.at_level(logging.INFO),
        pytest.raises(TrainingError, match="cannot be trained here: torch finds no GPU"),
    ):
        fitted_in(tmp_path, ImageStore(root=str(tmp_path)), [])
    assert len(read) == may_be_here
    # What fits is told the same, which may yet take longer than its user likes.
    weights, hours = caplog.messages
    assert " GB for these, and more for pictures." in weights
    assert hours.startswith("This machine has 8 GB and no GPU; its processors would take about ")


def test_pictures_that_are_gone_are_named_before_anything_is_begun(tmp_path, monkeypatch):
    (tmp_path / "base").mkdir()
    saved(tmp_path / "base", seven_billion())
    monkeypatch.setattr(Weights, "digest", "0")
    images = ImageStore(root=str(tmp_path))
    there, gone = images.put(b"here"), "f" * 64
    with pytest.raises(MissingItem, match=rf"1 of the pictures .* are gone \({gone[:12]}, "):
        fitted_in(tmp_path, images, [there, gone], skip_estimate_check=True)
    assert not (tmp_path / "training").exists()


def test_what_is_trained_anew_is_told_with_what_it_has_otherwise(tmp_path, caplog):
    recipe = RankingRecipe(base="some/model").model_dump()
    wanted = build_terms("ranking", "0" * 64, recipe, "d", 1)
    for name, changes in (("earlier", {"data": "e"}), ("mangled", None)):
        folder = tmp_path / f"small-{name}"
        folder.mkdir()
        record = adapter_record(kind="ranking", data="d")
        record |= {"recipe": recipe | {"margin": 0.5}, "trained": {"processes": 1}}
        record["wording"] = build_wording("ranking")
        record |= changes or {}
        (folder / "record.json").write_text(json.dumps(record) if changes else "{")
    with caplog.at_level(logging.WARNING):
        fitting._tell_of_others(tmp_path / "small-now", wanted, logging.getLogger("anew"))
    told, mangled = caplog.messages
    assert told == "Trains anew: small-earlier was trained with other margin, data."
    assert "small-mangled/record.json: it cannot be read" in mangled


@pytest.mark.parametrize("files", [None, [], "marks.parquet"])
def test_a_record_whose_files_are_no_object_is_named(tmp_path, files):
    (tmp_path / "record.json").write_text(json.dumps(adapter_record(files=files)))
    with pytest.raises(BadRecord, match=r"record.json: it cannot be read: `files` .*Fetch"):
        read_record(tmp_path)

"""Scores by a metric with an adapter: where it was trained on such pairs, nothing is scored."""

import json
from logging import getLogger

import pytest
from dagster import AssetCheckSeverity

from assets.kit.limits import LimitConfig
from assets.kit.pair_marks import add_marks
from assets.kit.step_run import StepRun
from assets.kit.table_asset import TablesMismatch
from assets.kit.tuning import TRAINED_ON
from assets.protobias.scores import PairScores
from assets.protobias.training import TRAINING_PAIRS
from resources.models.backends.adapters import BadRecord
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot
from tests.adapters import adapter_record
from tests.assets.filtered import filtered_rows, write_filtered
from tests.assets.paired import write_triplets

PARTITION, ADAPTER = "animals|sketch", "adapters/trained-0"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Four evaluated pairs below a data root, which has an adapter without a record."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    (tmp_path / ADAPTER).mkdir(parents=True)
    (tmp_path / ADAPTER / "adapter_model.safetensors").write_bytes(b"weights")
    (tmp_path / ADAPTER / "adapter_config.json").touch()
    write_triplets(tmp_path, 4)
    found = filtered_rows(tmp_path, "animals", 4)
    write_filtered(tmp_path, "animals", found)
    return found


def write_record(root, **told):
    """The record of the adapter, without marks."""
    record = adapter_record(b"weights", **told)
    (root / ADAPTER / "record.json").write_text(json.dumps(record))


def scores_of(role="metric", **parameters):
    known = {"name": "trained", "model": "some/model", "family": "some"}
    terms = {"formula": "expected_score"} if role == "metric" else {}
    entry = Model(backend="transformers", roles=(role,), parameters=terms | parameters, **known)
    return PairScores(Catalog((entry,)), entry)


def work_in(root):
    unused = {"images": None, "work_cache": None, "find_table": None, "log": getLogger(__name__)}
    return StepRun(PARTITION, LimitConfig(), {}, {}, home=DataRoot(root=str(root)), **unused)


def checked(root, rows, role="metric"):
    """What the check, which is blocking, says of scores of these pictures."""
    checks = {check.name: check for check in scores_of(role, adapter=ADAPTER).checks()}
    assert checks["no_overlap"].blocking
    return checks["no_overlap"].passes(work_in(root), rows)


def require(root, rows, role="metric"):
    """What is done before any of these pictures is scored."""
    step = scores_of(role, adapter=ADAPTER)
    step.rows = lambda work: rows
    step.require(work_in(root))


def first_of(root):
    return next(iter(TRAINING_PAIRS.load_pairs(DataRoot(root=str(root)), PARTITION)))


@pytest.mark.parametrize("role", ["metric", "judge"])
@pytest.mark.parametrize("split", ["training", "held out"])
def test_a_pair_that_was_trained_on_is_named_before_anything_is_scored(tmp_path, rows, role, split):
    first = first_of(tmp_path)
    write_record(tmp_path)
    add_marks(tmp_path / ADAPTER, {split: [first._replace(painter="earlier")]})
    with pytest.raises(TablesMismatch) as refused:
        require(tmp_path, rows, role)
    assert str(refused.value).startswith(
        f"1 evaluated pairs are like one that {ADAPTER} was trained on or chosen by: "
        f"sketch/{first.pair_id} (triplet with earlier/{first.pair_id} ({split})). trained has "
        f"scored none of {PARTITION}. Materialize what the adapter is trained on"
    )
    found = checked(tmp_path, rows, role)
    assert (found.passed, found.severity) == (False, AssetCheckSeverity.ERROR)
    assert found.description.startswith("1 of 4 evaluated pairs are like one")
    assert f"earlier/{first.pair_id} ({split})" in found.metadata["wrong"].value
    others = [row for row in rows if row["pair_id"] != first.pair_id]
    require(tmp_path, others, role)
    apart = checked(tmp_path, others, role)
    assert apart.passed
    assert apart.description.startswith("0 of 3 evaluated pairs")


def test_a_picture_that_a_judge_was_fine_tuned_on_is_found(tmp_path, rows):
    first = first_of(tmp_path)
    write_record(tmp_path, **{TRAINED_ON: ["game_boards/go", first.adversarial]})
    with pytest.raises(
        TablesMismatch, match=rf"{first.pair_id} \(picture with {first.adversarial} "
    ):
        require(tmp_path, rows, "judge")
    write_record(tmp_path, **{TRAINED_ON: ["game_boards/go", first.concept_id]})
    require(tmp_path, rows, "judge")
    assert checked(tmp_path, rows, "judge").passed


@pytest.mark.parametrize("told", [None, {}])
def test_an_adapter_that_does_not_say_what_it_was_trained_on_is_warned_of(tmp_path, rows, told):
    if told is not None:
        write_record(tmp_path)
        add_marks(tmp_path / ADAPTER, {"training": [first_of(tmp_path)]})
        write_record(tmp_path, **told)
    require(tmp_path, rows)
    found = checked(tmp_path, rows)
    assert (found.passed, found.severity) == (False, AssetCheckSeverity.WARN)
    assert f"The record of {ADAPTER} does not say whether" in found.description


@pytest.mark.parametrize("name", ["marks-*.parquet", "adapter_model.safetensors"])
@pytest.mark.parametrize("trouble", ["other", "gone"])
def test_files_of_another_adapter_are_refused(tmp_path, rows, name, trouble):
    write_record(tmp_path)
    add_marks(tmp_path / ADAPTER, {"training": [first_of(tmp_path)]})
    (path,) = (tmp_path / ADAPTER).glob(name)
    path.write_bytes(b"other") if trouble == "other" else path.unlink()
    said = {"other": "it is not the one", "gone": "it is missing"}[trouble]
    with pytest.raises(BadRecord, match=rf"{path.name}: {said}.* Fetch the folder again; or"):
        require(tmp_path, rows)


def test_a_metric_without_an_adapter_has_no_such_check():
    assert {check.name for check in scores_of().checks()} == {"nothing_failed", "unparsed_rate"}
    scores_of().require(None)

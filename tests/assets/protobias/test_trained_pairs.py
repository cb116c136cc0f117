"""Scores by a metric with an adapter: pairs that it was trained on stop what follows."""

from logging import getLogger

import pytest
from dagster import AssetCheckSeverity

from assets.kit.limits import Limited
from assets.kit.pair_marks import MARKS, write_marks
from assets.kit.step import Work
from assets.protobias.scores import Scores
from assets.protobias.training import TRAINING_PAIRS
from resources.home import Home
from resources.models.catalog import Catalog, Model
from tests.assets.filtered import filtered_rows, write_filtered
from tests.assets.paired import write_triplets

PARTITION, ADAPTER = "animals|sketch", "adapters/trained-0"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Four evaluated pairs below a data root, which has an adapter without marks."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(tmp_path))
    (tmp_path / ADAPTER).mkdir(parents=True)
    write_triplets(tmp_path, 4)
    found = filtered_rows(tmp_path, "animals", 4)
    write_filtered(tmp_path, "animals", found)
    return found


def checks_of(role="metric", **parameters):
    """The checks of a metric's scores by name."""
    known = {"name": "trained", "model": "some/model", "family": "some"}
    terms = {"formula": "expected_score"} if role == "metric" else {}
    entry = Model(backend="transformers", roles=(role,), parameters=terms | parameters, **known)
    return {check.name: check for check in Scores(Catalog((entry,)), entry).checks()}


def passes(root, rows, role="metric"):
    """What the check says of scores of these pictures."""
    unused = {"images": None, "ledger": None, "find": None, "log": getLogger(__name__)}
    work = Work(PARTITION, Limited(), {}, {}, home=Home(root=str(root)), **unused)
    return checks_of(role, adapter=ADAPTER)["no_overlap"].passes(work, rows)


@pytest.mark.parametrize("role", ["metric", "judge"])
@pytest.mark.parametrize("split", ["training", "held out"])
def test_a_pair_that_was_trained_on_stops_what_follows_and_is_named(tmp_path, rows, role, split):
    first, *_ = TRAINING_PAIRS.pairs(Home(root=str(tmp_path)), PARTITION)
    write_marks(tmp_path / ADAPTER, {split: [first._replace(painter="earlier")]})
    found = passes(tmp_path, rows, role)
    assert not found.passed
    assert found.severity == AssetCheckSeverity.ERROR
    assert checks_of(role, adapter=ADAPTER)["no_overlap"].blocking
    assert found.description.startswith(
        f"1 of 4 evaluated pairs are like one that {ADAPTER} was trained on or chosen by: "
        f"sketch/{first.pair_id} (triplet). These scores of trained are no result. Materialize "
        "protoscore/training_pairs and its adapter again"
    )
    assert f"earlier/{first.pair_id} ({split})" in found.metadata["wrong"].value
    others = [row for row in rows if row["pair_id"] != first.pair_id]
    apart = passes(tmp_path, others, role)
    assert apart.passed
    assert apart.description.startswith("0 of 3 evaluated pairs")


def test_an_adapter_that_does_not_say_what_it_was_trained_on_is_warned_of(tmp_path, rows):
    found = passes(tmp_path, rows)
    assert not found.passed
    assert found.severity == AssetCheckSeverity.WARN
    assert f"cannot be told: {ADAPTER} has no {MARKS}." in found.description


def test_a_metric_without_an_adapter_has_no_such_check():
    assert set(checks_of()) == {"nothing_failed", "few_unread"}

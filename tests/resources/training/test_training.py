"""Trainings of a tiny model by TRL, loaded as real ones are."""

import json
import logging
import shutil
from pathlib import Path

import pytest

from resources.faults import StoreBusy
from resources.models.replies import ModelUnavailable
from resources.training import checkpoints, launch
from resources.training.adapter_publication import publish_adapter, read_record, write_card
from resources.training.training_progress import read_progress
from tests.forks import forked
from tests.resources.training.conftest import STEPS
from tests.resources.training.small import failure_rate, pairs, save_base

pytestmark = pytest.mark.slow

LOG = logging.getLogger("test")


@pytest.fixture(scope="module")
def published(trained, tmp_path_factory):
    done, _ = trained
    place = tmp_path_factory.mktemp("published") / "small-0"
    publish_adapter(done, place)
    return place


def test_the_failure_rate_on_held_out_pairs_falls(trained, published, base, tmp_path):
    held = pairs(tmp_path, 60, seed=99)
    before, _ = failure_rate(tmp_path, base, held)
    after, scored = failure_rate(tmp_path, base, held, adapter=str(published))
    assert before > 0.3
    assert after <= 0.1
    assert scored == len(held)


def test_each_step_is_told(trained):
    done, told = trained
    steps = read_progress(Path(done.folder))
    assert [line["step"] for line in steps] == list(range(1, STEPS + 1))
    assert {"loss", "reward", "reward_std", "frac_reward_zero_std", "misranked"} <= set(steps[0])
    assert [line for line in told if line.startswith(f"step 1 of {STEPS}: loss ")]
    assert "said: correct: '" in told[0]


def test_a_job_that_was_done_is_not_done_again(trained):
    done, told = trained
    before = len(told)
    launch.run_training(done, LOG)
    assert len(read_progress(Path(done.folder))) == STEPS
    assert len(told) == before


def test_the_record_says_what_it_was_made_of(trained, published, base):
    done, _ = trained
    record = read_record(published)
    assert record["base"] == {"model": str(base), "revision": None, "sha256": done.base.sha256}
    assert record["trained"]["rows_trained"] == record["trained"]["rows"] == 4 * STEPS
    assert set(record["versions"]) == {
        *("trl", "transformers", "peft", "accelerate", "datasets", "torch")
    }
    entry, results = "- name: small\n", [{"metric": "small", "failures": "0.02 (0.00 to 0.09)"}]
    write_card(published, "It scores.", results, entry, ["Other pictures."])
    card = (published / "README.md").read_text()
    # A folder is no base that the Hub would take.
    assert f"A LoRA adapter of `{base}`, weights `{done.base.sha256[:12]}`;" in card
    assert "base_model" not in card
    assert "stand-in" not in card
    assert "| small | 0.02 (0.00 to 0.09) |" in card


def test_another_base_is_refused(published, tmp_path, base):
    other = save_base(tmp_path / "other", seed=1)
    with pytest.raises(
        ModelUnavailable, match=r"was trained for .*llava, and tiny has .*other\. Set `model`"
    ):
        failure_rate(tmp_path, other, pairs(tmp_path, 1), adapter=str(published))
    moved = shutil.copytree(base, tmp_path / "moved")
    failure_rate(tmp_path, moved, pairs(tmp_path, 1), adapter=str(published))


def test_an_adapter_of_somebody_else_is_held_to_the_base_that_it_names(published, tmp_path, base):
    theirs = shutil.copytree(published, tmp_path / "theirs")
    (theirs / "record.json").unlink()
    failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(theirs))
    config = json.loads((theirs / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "some/model"
    (theirs / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(ModelUnavailable, match="was trained for some/model, and tiny has"):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(theirs))


def test_changed_weights_and_what_is_no_adapter_are_refused(published, tmp_path, base):
    changed = shutil.copytree(published, tmp_path / "changed")
    path = changed / "adapter_model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        ModelUnavailable, match=r"safetensors: it is not the one that record\.json is"
    ):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(changed))
    with pytest.raises(ModelUnavailable, match=r"which is none: adapter_config\.json and"):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(tmp_path))


@pytest.fixture(scope="module")
def troubled(base, tmp_path_factory):
    """What became of trainings that were killed, and of one whose disk filled up."""
    disk = tmp_path_factory.mktemp("disk")
    # Here, for every process that collects tests would import transformers.
    from tests.resources.training import full_disk  # noqa: PLC0415 - see above

    # Forked from here, where the libraries are loaded already.
    return forked(full_disk.troubled, base, disk, [4, 6], disk=disk)


def test_killed_at_any_step_it_ends_with_the_same_bytes(troubled):
    """After a step and while a checkpoint is written; `make bench` kills it at each."""
    both = [{"killed": True, "same": True, "steps": [1, 2, 3, 4, 5]}] * 2
    assert troubled["kills"] == {"ranking": both, "tuning": both}


def test_a_disk_that_fills_up_during_a_checkpoint_costs_what_follows_it(troubled):
    kind, said = troubled["fault"]
    assert kind == "DiskFull"
    assert "The last whole checkpoint is kept: free some space" in said
    assert troubled["last"] == "checkpoint-2"
    assert troubled["same"]


def test_a_checkpoint_that_is_not_whole_is_removed(tmp_path):
    for step in (2, 4, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "weights").write_text("w")
    for step in (2, 4):
        checkpoints.mark_complete(tmp_path / f"checkpoint-{step}")
    assert checkpoints.find_last_checkpoint(tmp_path) == tmp_path / "checkpoint-4"
    assert not (tmp_path / "checkpoint-10").exists()


def test_another_run_of_the_same_is_told_to_wait(trained):
    done, _ = trained
    with (
        launch._lock_folder(Path(done.folder)),
        pytest.raises(StoreBusy, match="Another run trains in"),
    ):
        launch.run_training(done, LOG)

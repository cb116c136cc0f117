"""Trainings of a tiny model by TRL, loaded as real ones are."""

import asyncio
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resources.faults import Busy
from resources.images import ImageStore
from resources.models.backends import backend_of
from resources.models.catalog import Model
from resources.models.replies import Closed
from resources.models.requests import Score
from resources.training import checkpoints, launch
from resources.training.progress import lines
from resources.training.publish import publish, record_in, write_card
from tests.resources.training.small import SIDES, pairs, save_base

LOG = logging.getLogger("test")
ENTRY = {"backend": "transformers", "family": "tiny", "roles": ("metric",)}


def failure_rate(root, base, held, **parameters):
    """The share of held-out pairs that a metric misranks, and how many it could score."""
    terms = {"formula": "expected_score", "batch": 20, **parameters}
    entry = Model(name="tiny", model=str(base), parameters=terms, **ENTRY)
    backend = backend_of(entry, None, ImageStore(root=str(root)).get)

    async def ask():
        asked = [Score(pair["text"], pair[side]) for pair in held for side in SIDES]
        try:
            return await asyncio.gather(*map(backend.score, asked))
        finally:
            await backend.aclose()

    replies = asyncio.run(ask())
    scores = [reply.score for reply in replies]
    both = [two for two in zip(scores[::2], scores[1::2], strict=True) if None not in two]
    return sum(a >= c for c, a in both) / len(both), len(both)


@pytest.fixture(scope="module")
def published(trained, tmp_path_factory):
    done, _ = trained
    return publish(done, tmp_path_factory.mktemp("published") / "small-0")


def test_the_failure_rate_on_held_out_pairs_falls(trained, published, base, tmp_path):
    held = pairs(tmp_path, 60, seed=99)
    before, _ = failure_rate(tmp_path, base, held)
    after, scored = failure_rate(tmp_path, base, held, adapter=str(published))
    assert before > 0.3
    assert after <= 0.1
    assert scored == len(held)


def test_each_step_is_told(trained):
    done, told = trained
    steps = lines(Path(done.folder))
    assert [line["step"] for line in steps] == list(range(1, 41))
    assert {"loss", "reward", "reward_std", "frac_reward_zero_std", "misranked"} <= set(steps[0])
    assert [line for line in told if line.startswith("step 1 of 40: loss ")]
    assert "said: correct: '" in told[0]


def test_a_job_that_was_done_is_not_done_again(trained):
    done, told = trained
    before = len(told)
    launch.run(done, LOG)
    assert len(lines(Path(done.folder))) == 40
    assert len(told) == before


def test_the_record_says_what_it_was_made_of(trained, published, base):
    done, _ = trained
    record = record_in(published)
    assert record["base"] == {"model": str(base), "revision": None, "sha256": done.base.sha256}
    assert record["trained"]["rows_trained"] == record["trained"]["rows"] == 160
    assert set(record["versions"]) == {
        *("trl", "transformers", "peft", "accelerate", "datasets", "torch")
    }
    entry, results = "- name: small\n", [{"metric": "small", "failures": "0.02 (0.00 to 0.09)"}]
    write_card(published, "It scores.", results, entry, ["Other pictures."])
    card = (published / "README.md").read_text()
    assert f'base_model: "{base}"' in card
    assert "| small | 0.02 (0.00 to 0.09) |" in card


def test_another_base_is_refused(published, tmp_path, base):
    other = save_base(tmp_path / "other", seed=1)
    with pytest.raises(
        Closed, match=r"was trained for .*llava, and tiny has .*other\. Set `model`"
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
    with pytest.raises(Closed, match="was trained for some/model, and tiny has"):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(theirs))


def test_changed_weights_and_what_is_no_adapter_are_refused(published, tmp_path, base):
    changed = shutil.copytree(published, tmp_path / "changed")
    path = changed / "adapter_model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(Closed, match=r"are not those that its record\.json is about"):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(changed))
    with pytest.raises(Closed, match=r"which is none: adapter_config\.json and"):
        failure_rate(tmp_path, base, pairs(tmp_path, 1), adapter=str(tmp_path))


def test_killed_at_any_step_it_ends_with_the_same_bytes(base, tmp_path):
    """After steps and while a checkpoint is written; `make bench` kills it at each step."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.resources.training.kills"]
    done = subprocess.run(
        [*command, base, tmp_path, "1", "4", "6", "8"], stdout=subprocess.PIPE, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 4
    assert {each["killed"] for each in found} == {True}
    assert [each for each in found if not each["same"] or each["steps"] != [1, 2, 3, 4, 5]] == []


def test_a_checkpoint_that_is_not_whole_is_removed(tmp_path):
    for step in (2, 4, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "weights").write_text("w")
    for step in (2, 4):
        checkpoints.mark_whole(tmp_path / f"checkpoint-{step}")
    assert checkpoints.last_whole(tmp_path) == tmp_path / "checkpoint-4"
    assert not (tmp_path / "checkpoint-10").exists()


def test_another_run_of_the_same_is_told_to_wait(trained):
    done, _ = trained
    with launch._alone(Path(done.folder)), pytest.raises(Busy, match="Another run trains in"):
        launch.run(done, LOG)

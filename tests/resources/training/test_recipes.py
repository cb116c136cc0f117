"""What recipes set, in one step of TRL's trainers each, and what the control learns."""

import json
import re
import warnings
from pathlib import Path

import pytest

from resources.models.backends.scoring.vqa_score import QUESTION
from resources.training import worker
from resources.training.recipe import MarginRecipe, RankingRecipe
from resources.training.trainers import build_trainer
from resources.training.training_progress import read_progress
from tests import tiny
from tests.resources.training.small import QUICK, TEXT, failure_rate, job, pairs

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs" / "training.md"
ONE_STEP = QUICK | {"steps": 1, "per_device_batch_size": 2, "num_generations": 2}


def test_the_page_has_the_defaults_and_each_setting_says_its_reason():
    table = DOCS.read_text().partition("| config | default | why |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "`" in line]
    said = {}
    for names, defaults, *_ in rows:
        said |= dict(zip(re.findall(r"`(\w+)`", names), defaults.split(", "), strict=False))
    fields = RankingRecipe.model_fields
    assert {*said} == {*fields} - {"base", "accelerate_config", "skip_estimate_check"}
    for name, default in said.items():
        if isinstance(fields[name].default, (bool, int, float)):
            assert json.loads(default) == fields[name].default, name
    assert all(field.description for field in fields.values())


def done(root, base, **recipe):
    """A ranking job that was done in this process."""
    found = job(root, base, pairs(root, 2), recipe=RankingRecipe(base=str(base), **recipe))
    Path(found.folder).mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worker.train(found)
    return found


def weights_of(found):
    """By name, the type and shape of an adapter's matrices, from the head of its file."""
    with Path(found.folder, "adapter", "adapter_model.safetensors").open("rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: (of["dtype"], of["shape"]) for name, of in head.items() if name[0] != "_"}


def test_an_ablation_is_one_value_of_the_recipe(base, tmp_path):
    """The base in half the bits, its activations computed again; the adapter stays float32."""
    smaller = {
        "rank": 3,
        "target_modules": ["q_proj"],
        "dtype": "bfloat16",
        "gradient_checkpointing": True,
    }
    others = {"beta": 0.1, "margin": 0.1, "penalty": 2.0, "temperature": 0.7}
    found = done(tmp_path, base, **ONE_STEP | smaller | others)
    weights = weights_of(found)
    assert weights
    assert all("language_model" in name and ".q_proj." in name for name in weights)
    assert {dtype for dtype, _ in weights.values()} == {"F32"}
    assert {min(shape) for _, shape in weights.values()} == {3}
    told = json.loads(Path(found.folder, worker.TRAINED).read_text())
    assert told["dtype"] == "torch.bfloat16"


def test_a_training_is_not_done_before_its_adapter_is_on_the_disk(base, tmp_path, monkeypatch):
    """Else, after a power cut, an adapter that lacks its end would be published."""

    def fails(folder):
        raise OSError(5, f"{folder.name} is not on the disk")

    monkeypatch.setattr(worker, "mark_complete", fails, raising=False)
    with pytest.raises(OSError, match="adapter is not on the disk"):
        done(tmp_path, base, **ONE_STEP)
    assert not list(tmp_path.glob(f"training/*/{worker.TRAINED}"))


def test_a_kl_term_takes_no_second_copy_of_the_base(base, tmp_path):
    recipe = RankingRecipe(base=str(base), **ONE_STEP, beta=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = build_trainer(job(tmp_path, base, pairs(tmp_path, 2), recipe=recipe)).trainer
    assert trainer.beta == 0.1
    assert trainer.ref_model is None


@pytest.fixture(scope="module")
def talker(tmp_path_factory):
    """A model that knows the words of the control's question."""
    words = f"{QUESTION.format(text=TEXT)} USER: ASSISTANT:{20 * ' Yes No'}"
    return tiny.save_llava(tmp_path_factory.mktemp("talker"), words=words)


def test_the_control_learns_to_rank_pairs_as_well(talker, tmp_path):
    recipe = MarginRecipe(base=str(talker), steps=30, **QUICK)
    found = job(tmp_path, talker, pairs(tmp_path, 120), kind="margin", recipe=recipe)
    Path(found.folder).mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worker.train(found)
    held = pairs(tmp_path, 40, seed=99)
    before, _ = failure_rate(tmp_path, talker, held, "vqa_score")
    adapter = str(Path(found.folder, worker.ADAPTER))
    after, scored = failure_rate(tmp_path, talker, held, "vqa_score", adapter=adapter)
    assert before > 0.3
    assert after <= 0.1
    assert scored == len(held)
    assert {"loss", "difference", "misranked"} <= {*read_progress(Path(found.folder))[0]}

"""Fine-tuning on answers: what the loss is on, and that it falls."""

import warnings
from pathlib import Path

import pytest

from resources.training.progress import lines
from resources.training.recipe import TuningRecipe
from resources.training.trainers import trainer_of
from resources.training.worker import train
from tests.resources.training.small import ANSWERS, QUESTION, QUICK, job, questions, save_talker

STEPS = 20


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A job of 60 pictures, red and blue."""
    root = tmp_path_factory.mktemp("tuned")
    base = save_talker(root / "base")
    recipe = TuningRecipe(base=str(base), rank=8, alpha=16, steps=STEPS, **QUICK)
    return job(root, base, questions(root, 60), kind="tuning", recipe=recipe)


def test_the_loss_is_on_the_answer_alone(tuned):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = trainer_of(tuned).trainer
        batch = next(iter(trainer.get_train_dataloader()))
    tokenizer = trainer.processing_class.tokenizer
    for labels, ids in zip(batch["labels"], batch["input_ids"], strict=True):
        learned = tokenizer.decode(labels[labels >= 0], skip_special_tokens=True)
        assert learned.strip() in ANSWERS.values()
        assert QUESTION in tokenizer.decode(ids, skip_special_tokens=True)


def test_the_loss_falls(tuned):
    Path(tuned.folder).mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(tuned)
    losses = [line["loss"] for line in lines(Path(tuned.folder))]
    assert len(losses) == STEPS
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])

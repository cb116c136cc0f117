"""Fine-tuning on answers: what the loss is on, that it falls, and what a judge says then."""

import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.chat_models import ChatModel, build_message
from resources.models.catalog import Model
from resources.models.requests import Turn
from resources.training.answer_batches import AnswerCollator
from resources.training.recipe import TuningRecipe
from resources.training.trainers import build_trainer
from resources.training.training_progress import read_progress
from resources.training.training_rows import build_assistant_turn, build_user_turn
from resources.training.worker import ADAPTER, train
from tests import tiny
from tests.resources.training.small import (
    ANSWERS,
    QUESTION,
    QUICK,
    job,
    png,
    questions,
    save_talker,
    shown,
)

pytestmark = pytest.mark.slow

STEPS = 60


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A job of 60 pictures, red and blue."""
    root = tmp_path_factory.mktemp("tuned")
    base = save_talker(root / "base")
    recipe = TuningRecipe(base=str(base), rank=8, alpha=16, steps=STEPS, **QUICK)
    return job(root, base, questions(root, 60), kind="tuning", recipe=recipe)


@pytest.fixture(scope="module")
def done(tuned):
    """The same, trained."""
    Path(tuned.folder).mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(tuned)
    return tuned


def test_the_loss_is_on_the_answer_and_its_end_after_what_a_judge_is_asked(tuned):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = build_trainer(tuned).trainer
        batch = next(iter(trainer.get_train_dataloader()))
    tokenizer = trainer.processing_class.tokenizer
    asked, *_ = asking(tuned)[1]["input_ids"].tolist()
    assert asked[0] == tokenizer.bos_token_id
    for labels, ids in zip(batch["labels"], batch["input_ids"], strict=True):
        learned = labels[labels >= 0].tolist()
        assert tokenizer.decode(learned).strip() in {f"{said}</s>" for said in ANSWERS.values()}
        assert ids.tolist() == [*asked, *learned]


def asking(done, **adapted):
    """The model as a judge, and what it takes of a red and a blue picture."""
    known = {"name": "tiny", "backend": "transformers", "family": "tiny", "roles": ("judge",)}
    judge = ChatModel(Model(model=done.base.model, **known), None, AdapterSettings(**adapted))
    pictures = [png(shown(side, np.random.default_rng(5))) for side in ANSWERS]
    turn = Turn("user", QUESTION, ("x",))
    return judge, judge.tokenize_conversations(
        [[build_message(turn, lambda _, one=one: one)] for one in pictures]
    )


def test_a_judge_then_gives_the_answer_and_ends(done):
    judge, inputs = asking(done, adapter=str(Path(done.folder) / ADAPTER))
    made = judge.network.generate(**inputs, max_new_tokens=24, do_sample=False)
    said = judge.processor.tokenizer.batch_decode(made[:, inputs["input_ids"].shape[1] :])
    assert [text.replace("<pad>", "") for text in said] == ["{Yes}</s>", "{No}</s>"]


def test_the_batch_is_that_of_trl_where_the_template_has_both_tokens(tmp_path):
    """Answers of several lengths, asked by a template that begins a text and ends an answer."""
    base = tiny.save_llava(tmp_path / "base", words=f"{QUESTION} USER: ASSISTANT: {{Yes}} {{No}}")
    turns = tiny.CHAT.replace(
        "{% endfor %}{% if add",
        "{% if message.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}{% if add",
    )
    (base / "chat_template.jinja").write_text(turns.replace("{{ part.text }} ", "{{ part.text }}"))
    rows = [
        {
            "prompt": build_user_turn(QUESTION + more),
            "completion": build_assistant_turn(answer),
            "image": picture,
        }
        for more, answer in (("", "{Yes}"), ("", "a horse and a bird"), (" Look.", "{No}"))
        for picture in [shown("correct", np.random.default_rng(0))]
    ]
    entry = Model(
        name="tiny", backend="transformers", family="tiny", roles=("judge",), model=str(base)
    )
    speaking = ChatModel(entry, None, AdapterSettings())
    ours = AnswerCollator(speaking)(rows)
    collator = import_module("trl.trainer.sft_trainer").DataCollatorForVisionLanguageModeling
    theirs = collator(speaking.processor, completion_only_loss=True)(rows)
    assert {*ours} == {*theirs}
    for name, values in theirs.items():
        assert ours[name].tolist() == values.tolist(), name


def test_the_loss_falls(done):
    losses = [line["loss"] for line in read_progress(Path(done.folder))]
    assert len(losses) == STEPS
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])

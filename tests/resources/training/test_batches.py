"""Batches as trainers get them: pairs stay whole, and what is asked is what the metric asks."""

from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.chat_models import ChatModel, build_message
from resources.models.backends.scoring.expected_score import PROMPT
from resources.models.catalog import Model
from resources.models.requests import Turn
from resources.training.margin import build_margin_loss
from resources.training.meter import Meter
from resources.training.reward import TornPair, compute_rewards
from resources.training.trainers import build_trainer
from resources.training.training_rows import build_order, build_side_rows, build_user_turn
from tests import tiny
from tests.resources.training.small import job, pairs, png, shown
from tests.tiny import torch, transformers

pytestmark = pytest.mark.slow

SAMPLES = 4


def shares(rows, processes, at_once, accumulate, *, shuffle=False):
    """What each process is given, batch by batch, by TRL's sampler and accelerate's shards."""
    sampling = import_module("trl.trainer.utils").RepeatSampler
    sharding = import_module("accelerate.data_loader").BatchSamplerShard
    on_device = 2 * SAMPLES * at_once * accumulate
    sampler = sampling(rows, SAMPLES, on_device * processes // SAMPLES, shuffle=shuffle, seed=0)
    batches = torch.utils.data.BatchSampler(sampler, on_device, drop_last=False)
    for process in range(processes):
        for batch in sharding(batches, processes, process):
            yield [rows[at] for at in batch]


def torn(batch):
    """How many pairs of a batch lack one of their pictures, or samples of it."""
    seen = Counter((row["pair"], row["side"]) for row in batch)
    pairs = {pair for pair, _ in seen}
    return sum(
        {seen[pair, side] for side in ("correct", "adversarial")} != {SAMPLES} for pair in pairs
    )


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize(("at_once", "accumulate"), [(1, 1), (2, 1), (1, 3)])
def test_no_pair_is_torn_over_processes(processes, at_once, accumulate):
    each = at_once * accumulate * processes
    pairs = [{"text": "t", "correct": "c", "adversarial": "a"}] * 7
    rows = build_side_rows(pairs, build_order(len(pairs), 3 * each, seed=0))
    batches = list(shares(rows, processes, at_once, accumulate))
    assert sum(map(len, batches)) == len(rows) * SAMPLES
    assert sum(map(torn, batches)) == 0


def test_shuffled_as_by_default_pairs_would_be_torn():
    rows = build_side_rows([{"text": "t", "correct": "c", "adversarial": "a"}] * 8, range(8))
    assert sum(map(torn, shares(rows, 2, 1, 1, shuffle=True))) > 0


@pytest.mark.parametrize("samples", [2, 3, 6, 8, 11, 16])
def test_samples_that_say_the_same_have_no_spread_by_which_trl_would_go(samples):
    """A base that always says one digit of each picture: it is to be told, and not trained on."""
    sides = ["correct"] * samples + ["adversarial"] * samples
    for one in range(10):
        for other in range(10):
            scores = [one / 9] * samples + [other / 9] * samples
            given = compute_rewards(scores, ["p"] * len(sides), sides, margin=0.3, penalty=0.5)
            spread = import_module("trl.trainer.utils").nanstd(torch.tensor(given).view(2, -1), 1)
            assert spread.tolist() == [0, 0], (one, other)


def test_each_pass_has_every_row_once_in_an_order_of_its_own():
    order = build_order(5, 12, seed=3)
    assert sorted(order[:5]) == sorted(order[5:10]) == [0, 1, 2, 3, 4]
    assert order[:5] != order[5:10]
    assert build_order(5, 7, seed=3) == order[:7]


def test_a_trainer_asks_in_the_words_of_the_metric(base):
    """The tokens before the answer, as TRL makes them of a row, and as the metric does."""
    picture = shown("correct", np.random.default_rng(0))
    entry = Model(
        name="tiny", backend="transformers", family="tiny", roles=("judge",), model=str(base)
    )
    speaking = ChatModel(entry, None, AdapterSettings())
    text = PROMPT.format(text="a red thing")
    asked = build_message(Turn("user", text, ("x",)), lambda _: png(picture))
    ours = speaking.tokenize_conversations([[asked]])["input_ids"][0].tolist()
    messages = import_module("trl.data_utils").prepare_multimodal_messages
    trained = messages(build_user_turn(text), images=[picture])
    theirs = speaking.processor.apply_chat_template(
        [trained], add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"][0]
    assert ours == list(theirs)


def test_pictures_of_several_sizes_are_padded_before_the_question(tmp_path):
    """TRL pads prompts on the left, and has the processor pad what goes with each of their tokens.

    Like Qwen2.5-VL, this model has more tokens for a larger picture, and a tokenizer that pads on
    the right unless it is told otherwise.
    """
    base = tiny.save_llava_next(tmp_path / "base")
    saved = transformers.AutoProcessor.from_pretrained(base)
    saved.tokenizer.padding_side = "right"
    saved.save_pretrained(base)
    assert transformers.AutoProcessor.from_pretrained(base).tokenizer.padding_side == "right"
    trainer = build_trainer(job(tmp_path, base, pairs(tmp_path, 2))).trainer
    # As GRPOTrainer calls it.
    inputs = trainer.processing_class(
        images=[[Image.new("RGB", size)] for size in ((16, 16), (16, 32), (32, 32))],
        text=["USER: <image>\nHow many legs? ASSISTANT:"] * 3,
        padding=True,
        return_tensors="pt",
    )
    lengths = inputs["attention_mask"].sum(dim=1).tolist()
    assert len({*lengths}) > 1
    for mask, length in zip(inputs["attention_mask"].tolist(), lengths, strict=True):
        assert mask == [0] * (len(mask) - length) + [1] * length


def test_the_margin_loss_is_the_mean_of_what_each_pair_lacks():
    """Two pairs, of which P(yes) differs by 0.2 and by −0.1, against a margin of 0.3."""
    yes, answer = 1, torch.tensor([[-100, -100, 1, 0], [-100, 2, 0, 0]])
    labels = torch.cat([answer, answer])
    probable = [0.6, 0.4, 0.3, 0.4]
    logits = torch.zeros(4, 4, 3)
    for row, (chance, first) in enumerate(zip(probable, [2, 1, 2, 1], strict=True)):
        rest = (1 - chance) / 2
        logits[row, first - 1] = torch.tensor([rest, chance, rest]).log()
    outputs = type("Outputs", (), {"logits": logits})
    meter = Meter()
    loss = build_margin_loss(yes, 0.3, 2, meter)
    assert loss(outputs, labels).item() == pytest.approx((0.1 + 0.4) / 2)
    means, _ = meter.read()
    assert means["misranked"] == 0.5
    assert means["difference"] == pytest.approx(0.05)
    for wrong in (labels[[1, 0, 2, 3]], labels[[0, 2, 1, 3]], labels[:3]):
        with pytest.raises(TornPair, match="A pair is torn"):
            loss(type("Outputs", (), {"logits": logits[: len(wrong)]}), wrong)

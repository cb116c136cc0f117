"""The score that is trained, against a second computation of it by transformers alone."""

import io

import pytest
from PIL import Image

from resources.models.backends.scoring.expected_score import PROMPT
from resources.storage.image_store import ImageStore
from tests import tiny
from tests.resources.training.small import TEXT, pairs, replies
from tests.tiny import torch, transformers

pytestmark = pytest.mark.slow

CHAT = "<s>USER: <image>\n{} ASSISTANT:"


def weights_of_digits(base, picture):
    """How the digits weigh where the answer begins, with or without a space before, and all."""
    processor = transformers.LlavaProcessor.from_pretrained(base)
    asked = {"text": CHAT.format(PROMPT.format(text=TEXT)), "add_special_tokens": False}
    inputs = processor(images=picture, return_tensors="pt", **asked)
    model = transformers.LlavaForConditionalGeneration.from_pretrained(base).eval()
    with torch.no_grad():
        raised = model(**inputs).logits[0, -1].double().exp()
    tokens = processor.tokenizer.get_vocab()
    held = [
        (digit, raised[tokens[name]].item())
        for digit in range(10)
        for name in (f"{digit}", f"▁{digit}")
        if name in tokens
    ]
    return held, raised.sum().item()


@pytest.mark.parametrize("batch", [1, 4])
def test_it_is_the_mean_of_digits_by_their_probability_beside_the_greedy_one(base, tmp_path, batch):
    held_out, images = pairs(tmp_path, 2, seed=5), ImageStore(root=str(tmp_path))
    found = replies(tmp_path, base, held_out, batch=batch)
    shown = [pair[side] for pair in held_out for side in ("correct", "adversarial")]
    for reply, name in zip(found, shown, strict=True):
        weights, every = weights_of_digits(base, Image.open(io.BytesIO(images.get(name))))
        mass = sum(weight for _, weight in weights)
        expected = sum(digit * weight for digit, weight in weights) / mass / 9
        assert reply.score == pytest.approx(expected, rel=1e-4)
        assert reply.provenance["digits"] == pytest.approx(mass / every, rel=1e-4)
        assert reply.text == str(max(weights, key=lambda each: each[1])[0])
    assert len({reply.score for reply in found}) > 1


def test_an_answer_that_is_no_digit_alone_has_no_score(tmp_path):
    number = tiny.save_llava(tmp_path / "number", always="0.85")
    (reply, _) = replies(tmp_path, number, pairs(tmp_path, 1))
    # Cut off after four tokens, as in training.
    assert (reply.text, reply.score) == ("0.8", None)

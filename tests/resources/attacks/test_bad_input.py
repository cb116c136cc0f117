"""Models that cannot be attacked, pictures that are not, and parameters that make no sense."""

import json
import shutil

import pytest
from pydantic import ValidationError

from resources.attacks.attack import EncoderAttack
from resources.attacks.attack_parameters import AttackParameters, find_size_problem
from resources.attacks.encoders import load_encoder
from resources.attacks.encoders.llava import Llava
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from tests import tiny
from tests.resources.attacks.encoders import entry, picture, work
from tests.tiny import safetensors, torch

pytestmark = pytest.mark.slow


def quiet(step, similarities):
    """Nobody watches."""


@pytest.fixture
def copied(folders, tmp_path):
    return shutil.copytree(folders["llava"], tmp_path / "llava")


def attack(folder, **parameters):
    return EncoderAttack(entry(folder, **parameters), None).attack([work(picture(20, 30))], quiet)


def test_an_architecture_without_an_encoder_is_told(tmp_path):
    with pytest.raises(
        ModelUnavailable, match=r"'clip', which has no encoder here.*llava, llava_next, instr"
    ):
        load_encoder(entry(tiny.save_clip(tmp_path)), None)


def test_a_quantized_model_is_told(copied):
    config = json.loads((copied / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    (copied / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelUnavailable, match="it is quantized, so that its gradient is not"):
        load_encoder(entry(copied), None)


def test_weights_that_are_missing_are_not_made_up(copied):
    path = copied / "model.safetensors"
    weights = safetensors.load_file(path)
    lacking = {name: each for name, each in weights.items() if "projector.linear_2" not in name}
    safetensors.save_file(lacking, path, {"format": "pt"})
    with pytest.raises(ModelUnavailable, match="2 of its weights are not in its files"):
        load_encoder(entry(copied), None)


def test_the_language_model_is_left_where_it_is(folders):
    names = [
        name
        for name, _ in load_encoder(
            entry(folders["llava"]), None
        ).encoder.network.named_parameters()
    ]
    assert any("vision_tower" in name for name in names)
    assert not any("language_model.layers" in name for name in names)


def test_a_processor_that_is_not_followed_is_told(folders, monkeypatch):
    own = Llava.process
    monkeypatch.setattr(Llava, "process", lambda *given: own(*given).flip(0))
    with pytest.raises(
        ModelUnavailable, match=r"in a way that no gradient follows.*levels of 255 apart"
    ):
        attack(folders["llava"])


def test_an_encoder_without_a_gradient_is_told(folders, monkeypatch):
    own = Llava.embed
    monkeypatch.setattr(Llava, "embed", lambda *given: [each.detach() for each in own(*given)])
    with pytest.raises(
        ModelUnavailable, match="gives no gradient, without which there is no attack"
    ):
        attack(folders["llava"])


def test_a_gradient_that_is_nil_is_no_attack(folders, monkeypatch):
    own = Llava.embed
    monkeypatch.setattr(Llava, "embed", lambda *given: [0 * each + 1 for each in own(*given)])
    (found,) = attack(folders["llava"])
    assert found.png is None
    assert found.reason == "The gradient is nil at step 1."


def test_what_is_no_better_than_noise_is_no_attack(folders):
    tried = AttackParameters(iterations=1, step=0.01)
    attacker = EncoderAttack(entry(folders["llava"]), None)
    (found,) = attacker.attack([work(picture(40, 64), "pgd", "lower", tried)], quiet)
    assert found.png is None
    assert "no better than noise" in found.reason
    assert found.similarity >= found.noise_similarity


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_will_do(folders, dtype):
    attacker = EncoderAttack(entry(folders["llava"], dtype=dtype), None)
    assert attacker._encoder.network.dtype == getattr(torch, dtype)
    (found,) = attacker.attack([work(picture(40, 64))], quiet)
    assert found.similarity < found.noise_similarity - 0.05


def test_a_question_that_does_not_fit_is_told(attackers):
    long = work(picture(20, 30), question="dog " * 40)
    with pytest.raises(UnacceptableRequest, match="tiny cannot take this request"):
        attackers["instructblip"].attack([long], quiet)


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ((1, 1), "too small, a side has at least 8 px"),
        ((20_000, 20_000), "too large, a side has at most 4,096 px"),
        ((4000, 100), "too narrow, a side is at most 16 times the other"),
        ((8, 128), None),
        ((4096, 4096), None),
    ],
    ids=str,
)
def test_pictures_of_some_sizes_are_not_attacked(size, why):
    told = find_size_problem(*size)
    assert told is None if why is None else why in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epsilon": 0.5}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"step": 0}, "step"),
        ({"epsilon": 4, "step": 5}, "each step would end at the bound"),
        ({"iterations": 0}, "iterations"),
        ({"early_stop": 1}, "early_stop"),
        ({"iteration": 5}, "iteration"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(given, told):
    with pytest.raises(ValidationError, match=told):
        AttackParameters(**given)

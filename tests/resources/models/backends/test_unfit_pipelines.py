"""Pipelines and entries that do not fit a painter or an editor, each with a sentence."""

import json
import shutil
from functools import wraps

import pytest

from resources.models.backends import build_backend
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import PaintRequest, get_request_kind
from tests import tiny
from tests.painter_families import FAMILIES, pipelines
from tests.painter_families.components import clip
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.tiny import diffusers, torch, transformers

pytestmark = pytest.mark.slow

SIZE = {"height": tiny.SIDE, "width": tiny.SIDE}
FLUX = {**SIZE, "num_inference_steps": 1, "guidance_scale": 0.0, "max_sequence_length": 32}
ASKED = [PaintRequest(f"a photo of a bird with {legs} legs", seed=7) for legs in range(7)]
PICTURES = Pictures(picture("red"), picture("blue"))


@pytest.fixture(scope="module")
def flux(tmp_path_factory):
    return tiny.save_flux(tmp_path_factory.mktemp("flux"))


def ask(model, *requests, **parameters):
    backend = build_backend(entry("diffusers", model, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(request), request) for request in requests))


@pytest.fixture
def many(monkeypatch):
    """Makes FLUX paint four pictures where it paints one."""
    call = diffusers.FluxPipeline.__call__

    @wraps(call)
    def paint(pipeline, *args, **words):
        output = call(pipeline, *args, **words)
        output.images = [image for image in output.images for _ in range(4)]
        return output

    monkeypatch.setattr(diffusers.FluxPipeline, "__call__", paint)


def test_more_pictures_than_prompts_are_nobodys(flux, many):
    with pytest.raises(
        ModelUnavailable, match=r"^FluxPipeline of .* made 28 pictures of 7 prompts, .* batch: 1"
    ):
        ask(flux, *ASKED, batch=7, **FLUX)


def test_more_pictures_than_one_of_a_prompt_are_refused(flux, many):
    with pytest.raises(UnacceptableRequest, match="made 4 pictures where one was asked for"):
        ask(flux, ASKED[0], **FLUX)


def test_a_system_prompt_stays_one_text(tmp_path):
    (family,) = (family for family in FAMILIES if family.pipeline == "Lumina2Pipeline")
    folder = family.save(tmp_path)
    words = {"system_prompt": "a photo of", "negative_prompt": "a flag"}
    replies = ask(folder, *ASKED[:2], batch=2, **family.parameters, **words)
    plain = ask(folder, *ASKED[:2], batch=2, **family.parameters)
    assert all(one.pictures != other.pictures for one, other in zip(replies, plain, strict=True))


def test_a_picture_that_is_no_number_is_refused(flux, tmp_path):
    pipeline = diffusers.FluxPipeline.from_pretrained(flux)
    with torch.no_grad():
        pipeline.vae.decoder.conv_out.bias.fill_(torch.nan)
    pipeline.save_pretrained(tmp_path)
    with pytest.raises(UnacceptableRequest, match=r"^tiny painted what is no number: .* bfloat16"):
        ask(tmp_path, ASKED[0], **FLUX)


def test_a_black_picture_may_be_painted(flux, tmp_path):
    pipeline = diffusers.FluxPipeline.from_pretrained(flux)
    with torch.no_grad():
        pipeline.vae.decoder.conv_out.bias.fill_(-1000)
    pipeline.save_pretrained(tmp_path)
    (reply,) = ask(tmp_path, ASKED[0], **FLUX)
    assert len(reply.pictures) == 1


def test_an_editor_that_paints_nothing_is_named(tmp_path):
    parts = pipelines.build_sdxl().components
    diffusers.StableDiffusionXLImg2ImgPipeline(**parts).save_pretrained(tmp_path)
    with pytest.raises(
        ModelUnavailable, match=r"^StableDiffusionXLImg2ImgPipeline of .* paints none: .*\[editor\]"
    ):
        ask(tmp_path, ASKED[0], num_inference_steps=1)


def test_a_processor_that_needs_torchvision_is_said(tmp_path):
    """As in Qwen-Image-Edit; the process of tests has no torchvision."""
    pipelines.build_qwen_image().save_pretrained(tmp_path)
    processor, index = tmp_path / "processor", tmp_path / "model_index.json"
    shutil.copytree(tmp_path / "tokenizer", processor)
    transformers.Qwen2VLImageProcessorPil().save_pretrained(processor)
    parts = json.loads(index.read_text()) | {
        "_class_name": "QwenImageEditPipeline",
        "processor": ["transformers", "Qwen2VLProcessor"],
    }
    index.write_text(json.dumps(parts))
    with pytest.raises(
        ModelUnavailable, match="needs torchvision in the version that belongs to torch"
    ):
        ask(tmp_path, ASKED[0])


def test_a_library_that_is_missing_while_it_paints_is_a_sentence(flux, monkeypatch):
    def encode(*_, **__):
        return ftfy  # noqa: F821 - as pipelines name it where it is not installed

    monkeypatch.setattr(diffusers.FluxPipeline, "encode_prompt", encode)
    with pytest.raises(UnacceptableRequest, match="cannot take this request: name 'ftfy' is not"):
        ask(flux, ASKED[0], **FLUX)


@pytest.fixture(scope="module")
def prior(tmp_path_factory):
    """A pipeline that makes embeddings, of which another one makes pictures."""
    folder = tmp_path_factory.mktemp("prior")
    tokenizer, _ = clip()
    sizes = tiny.SIZES | {"projection_dim": 32}
    eyes = transformers.CLIPVisionConfig(**sizes, image_size=tiny.SIDE, patch_size=8)
    diffusers.KandinskyV22PriorPipeline(
        prior=diffusers.PriorTransformer(
            num_attention_heads=2, attention_head_dim=12, embedding_dim=32, num_layers=1
        ),
        image_encoder=transformers.CLIPVisionModelWithProjection(eyes),
        text_encoder=clip("CLIPTextModelWithProjection")[1],
        tokenizer=tokenizer,
        scheduler=diffusers.UnCLIPScheduler(
            variance_type="fixed_small_log", prediction_type="sample", clip_sample_range=5.0
        ),
        image_processor=tiny.image_processor(),
    ).save_pretrained(folder)
    return folder


def test_a_pipeline_that_makes_no_pictures_is_named(prior):
    with pytest.raises(
        ModelUnavailable, match=r"^KandinskyV22PriorPipeline of .* makes no pictures but Kand"
    ):
        ask(prior, ASKED[0], num_inference_steps=2)


def test_a_pipeline_without_a_denoiser_has_no_attention_to_set(prior):
    with pytest.raises(ModelUnavailable, match="has no transformer and no unet: remove attention"):
        ask(prior, ASKED[0], attention="native")

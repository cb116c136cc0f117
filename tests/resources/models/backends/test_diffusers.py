"""Painters and editors of diffusers, on tiny models that are loaded as real ones are."""

import asyncio
import io
import json
import shutil
import subprocess
import sys
import threading
from functools import wraps

import numpy as np
import pytest
from PIL import Image

from resources.models.backends import build_backend
from resources.models.backends.diffusers import compute_noise_seed
from resources.models.replies import ModelUnavailable, Refusal, UnacceptableRequest
from resources.models.requests import (
    EditRequest,
    PaintRequest,
    compute_call_keys,
    get_request_kind,
)
from tests import tiny
from tests.resources.models.backends.local_models import (
    Pictures,
    answers,
    entry,
    picture,
)
from tests.tiny import diffusers, safetensors, torch

pytestmark = pytest.mark.slow

BIRD, HORSE = "a photo of a bird", "a horse with five legs"
SMALL = {"num_inference_steps": 2, "height": tiny.SIDE, "width": tiny.SIDE}
FLUX = {**SMALL, "guidance_scale": 0.0, "max_sequence_length": 32}
KONTEXT = {"num_inference_steps": 2, "max_area": tiny.SIDE**2, "_auto_resize": False}
RED, WIDE = picture("red"), picture("blue", (48, 32))
PICTURES = Pictures(RED, WIDE)
RED_NAME, WIDE_NAME = PICTURES
PATIENCE_S = 300


@pytest.fixture(scope="module")
def flux(tmp_path_factory):
    return tiny.save_flux(tmp_path_factory.mktemp("flux"))


@pytest.fixture(scope="module")
def kontext(tmp_path_factory):
    return tiny.save_flux(tmp_path_factory.mktemp("kontext"), kontext=True)


@pytest.fixture(scope="module")
def stable_diffusion(tmp_path_factory):
    return tiny.save_stable_diffusion(tmp_path_factory.mktemp("sd"))


def made(model, *requests, **parameters):
    """The replies of a backend made for these requests alone."""
    backend = build_backend(entry("diffusers", model, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(one), one) for one in requests))


def pixels(reply):
    (one,) = reply.pictures
    image = Image.open(io.BytesIO(one.data))
    assert (one.media_type, image.format, image.mode, image.info) == ("image/png", "PNG", "RGB", {})
    return np.asarray(image)


def noise(seed):
    return torch.Generator("cpu").manual_seed(seed)


class TestPainting:
    def test_it_is_what_the_pipeline_itself_makes(self, flux):
        pipeline = diffusers.FluxPipeline.from_pretrained(flux)
        plain = pipeline(BIRD, generator=noise(7), **FLUX).images[0]
        (reply,) = made(flux, PaintRequest(BIRD, seed=7), **FLUX)
        assert (pixels(reply) == np.asarray(plain)).all()
        assert reply.served_model == str(flux)

    def test_prompt_and_seed_and_nothing_else_decide_the_bytes(self, flux):
        asked = [
            PaintRequest(BIRD, seed=7),
            PaintRequest(BIRD, seed=8),
            PaintRequest(HORSE, seed=7),
        ]
        first = [reply.pictures for reply in made(flux, *asked, **FLUX)]
        again = [reply.pictures for reply in made(flux, *reversed(asked), **FLUX)]
        assert first == again[::-1]
        assert len(set(first)) == 3

    def test_a_batch_makes_the_same_pictures_but_for_rounding(self, flux, monkeypatch):
        sizes, call = [], diffusers.FluxPipeline.__call__

        @wraps(call)
        def noted(pipeline, *args, **words):
            sizes.append(len(words["prompt"]))
            return call(pipeline, *args, **words)

        monkeypatch.setattr(diffusers.FluxPipeline, "__call__", noted)
        asked = [PaintRequest(words, seed=n) for n in range(3) for words in (BIRD, HORSE)]
        alone = [pixels(reply).astype(int) for reply in made(flux, *asked, **FLUX)]
        batched = [pixels(reply).astype(int) for reply in made(flux, *asked, batch=4, **FLUX)]
        assert sizes == [1, 1, 1, 1, 1, 1, 4, 2]
        for one, other in zip(alone, batched, strict=True):
            assert abs(one - other).max() <= 1
        assert abs(alone[0] - alone[1]).max() > 1, "one prompt could pass for another"

    def test_a_negative_prompt_goes_with_each_of_a_batch(self, stable_diffusion):
        pipeline = diffusers.StableDiffusionPipeline.from_pretrained(stable_diffusion)
        plain = pipeline(BIRD, negative_prompt=HORSE, generator=noise(7), **SMALL).images[0]
        asked = [PaintRequest(HORSE, seed=1), PaintRequest(BIRD, seed=7)]
        replies = made(stable_diffusion, *asked, batch=2, negative_prompt=HORSE, **SMALL)
        assert abs(pixels(replies[1]).astype(int) - np.asarray(plain)).max() <= 1

    def test_what_the_safety_checker_holds_back_is_refused(self, tmp_path):
        prudish = tiny.save_stable_diffusion(tmp_path, prudish=True)
        (reply,) = made(prudish, PaintRequest(BIRD, seed=7), **SMALL)
        reason = "The pipeline's safety checker held the picture back."
        assert (reply.refusal, reply.pictures) == (Refusal("content filter", reason), ())

    def test_the_dtype_is_as_told(self, flux):
        (full,) = made(flux, PaintRequest(BIRD, seed=7), **FLUX)
        (half,) = made(flux, PaintRequest(BIRD, seed=7), dtype="bfloat16", **FLUX)
        plain = diffusers.FluxPipeline.from_pretrained(flux, dtype=torch.bfloat16)
        assert (pixels(half) == np.asarray(plain(BIRD, generator=noise(7), **FLUX).images[0])).all()
        assert (pixels(half) != pixels(full)).any()

    @pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
    def test_attention_and_compiling_are_as_told_and_part_of_the_key(self, flux):
        pipeline = build_backend(
            entry("diffusers", flux, attention="native", compile_repeated_blocks=True, **FLUX),
            None,
            PICTURES,
        )._pipeline
        blocks = [
            module
            for module in pipeline.transformer.modules()
            if type(module).__name__ in pipeline.transformer._repeated_blocks
        ]
        assert len(blocks) == 2
        assert all(block._compiled_call_impl is not None for block in blocks)
        backends = {
            module.processor._attention_backend.value
            for module in pipeline.transformer.modules()
            if hasattr(module, "processor")
        }
        assert backends == {"native"}
        asked = [PaintRequest(BIRD, seed=7)]
        settings = [{}, {"attention": "native"}, {"compile_repeated_blocks": True}]
        keys = [compute_call_keys(entry("diffusers", flux, **how), asked) for how in settings]
        assert len({key for (key,) in keys}) == 3

    def test_kernels_of_the_hub_are_not_fetched(self, flux):
        with pytest.raises(ModelUnavailable, match=r"attention .*would fetch code from the Hub"):
            made(flux, PaintRequest(BIRD), attention="flash_hub", **FLUX)


class TestSeeds:
    def test_a_seed_is_that_of_the_noise_and_without_one_the_sample_index_is(self):
        assert compute_noise_seed(PaintRequest(BIRD, seed=7)) == 7
        assert [compute_noise_seed(PaintRequest(BIRD, sample=n)) for n in range(3)] == [0, 1, 2]
        assert compute_noise_seed(EditRequest(BIRD, (RED_NAME,), seed=7)) == 7

    def test_samples_of_one_seed_and_seeds_beyond_32_bits_have_noise_of_their_own(self):
        asked = [
            PaintRequest(BIRD, seed=seed, sample=n) for seed in (0, 1, 2**40, -1) for n in range(3)
        ]
        drawn = {
            torch.randn(4, generator=noise(compute_noise_seed(one))).numpy().tobytes()
            for one in asked
        }
        assert len(drawn) == len(asked)

    def test_torch_itself_sees_32_bits_only(self):
        low, high = (torch.randn(4, generator=noise(seed)) for seed in (7, 7 + 2**40))
        assert (low == high).all()


class TestEditing:
    def test_a_painter_edits_through_its_image_to_image_pipeline(self, flux):
        parameters = {"num_inference_steps": 4, "strength": 0.5, "max_sequence_length": 32}
        pipeline = diffusers.FluxImg2ImgPipeline.from_pretrained(flux)
        shown = Image.open(io.BytesIO(WIDE))
        plain = pipeline(
            BIRD, image=shown, generator=noise(7), height=32, width=48, **parameters
        ).images[0]
        (reply,) = made(flux, EditRequest(BIRD, (WIDE_NAME,), seed=7), **parameters)
        assert pixels(reply).shape == (32, 48, 3)
        assert (pixels(reply) == np.asarray(plain)).all()

    def test_kontext_edits_and_paints(self, kontext):
        pipeline = diffusers.FluxKontextPipeline.from_pretrained(kontext)
        shown = Image.open(io.BytesIO(RED))
        size = {"height": tiny.SIDE, "width": tiny.SIDE}
        edited = pipeline(shown, HORSE, generator=noise(7), **size, **KONTEXT).images[0]
        painted = pipeline(prompt=HORSE, generator=noise(7), **KONTEXT).images[0]
        one, other = made(
            kontext, EditRequest(HORSE, (RED_NAME,), seed=7), PaintRequest(HORSE, seed=7), **KONTEXT
        )
        assert (pixels(one) == np.asarray(edited)).all()
        assert (pixels(other) == np.asarray(painted)).all()
        assert (pixels(one) != pixels(other)).any()

    def test_a_picture_keeps_its_shape_unless_the_entry_says_another(self, kontext):
        wide = {**KONTEXT, "max_area": 48 * 32}
        (kept,) = made(kontext, EditRequest(HORSE, (WIDE_NAME,)), **wide)
        (told,) = made(kontext, EditRequest(HORSE, (WIDE_NAME,)), **wide, height=48, width=32)
        assert (pixels(kept).shape, pixels(told).shape) == ((32, 48, 3), (48, 32, 3))

    def test_a_pipeline_that_is_told_no_size_takes_the_picture_s(self, stable_diffusion):
        parameters = {"num_inference_steps": 4, "strength": 0.5}
        (reply,) = made(stable_diffusion, EditRequest(HORSE, (WIDE_NAME,)), **parameters)
        assert pixels(reply).shape == (32, 48, 3)

    @pytest.mark.parametrize("shape", ["flux", "kontext", "stable_diffusion"])
    def test_a_pipeline_that_cannot_join_pictures_says_so(self, shape, request):
        folder = request.getfixturevalue(shape)
        parameters = KONTEXT if shape == "kontext" else {"num_inference_steps": 2}
        with pytest.raises(
            UnacceptableRequest, match=r"^(tiny|FluxImg2Img|StableDiffusionImg2Img)"
        ):
            made(folder, EditRequest(BIRD, (RED_NAME, RED_NAME)), **parameters)


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("parameters", "said"),
        [
            ({"strenght": 0.5}, "FluxPipeline of .* takes no strenght"),
            ({"output_type": "np"}, "takes no output_type"),
            ({"batch": 0}, "parameter batch of tiny in models.yaml is wrong"),
            ({"device": "nowhere"}, "cannot be loaded: .*nowhere"),
            ({"dtype": "float5"}, "cannot be loaded: .*float5"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, flux, parameters, said):
        with pytest.raises(ModelUnavailable, match=said):
            made(flux, PaintRequest(BIRD), **{**FLUX, **parameters})

    def test_a_size_that_the_pipeline_refuses_is_its_own_words(self, stable_diffusion):
        with pytest.raises(
            UnacceptableRequest, match=r"tiny cannot take this request: .*divisible by 8"
        ):
            made(stable_diffusion, PaintRequest(BIRD), **{**SMALL, "height": 17})

    @pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "no/such/folder", "/no/folder"])
    def test_a_model_that_is_not_there_is_named_with_what_to_do(self, name):
        with pytest.raises(ModelUnavailable, match=f"{name} is no folder.*hf download {name}$"):
            made(name, PaintRequest(BIRD), **FLUX)

    def test_a_folder_that_holds_no_pipeline_is_named(self, tmp_path):
        with pytest.raises(
            ModelUnavailable, match=f"{tmp_path} cannot be loaded: .*model_index.json"
        ):
            made(tmp_path, PaintRequest(BIRD), **FLUX)

    def test_memory_that_runs_out_names_the_remedy(self, flux):
        huge = {**FLUX, "height": 2**24, "width": 2**24}
        with pytest.raises(
            ModelUnavailable, match=r"ran out of memory.* set batch: 1, smaller pictures"
        ):
            made(flux, PaintRequest(BIRD), **huge)


class TestWhatIsNotTrusted:
    def test_a_pickle_is_not_opened(self, flux, tmp_path):
        folder = shutil.copytree(flux, tmp_path / "model")
        weights = folder / "vae" / "diffusion_pytorch_model.safetensors"
        torch.save(safetensors.load_file(weights), weights.with_suffix(".bin"))
        weights.unlink()
        with pytest.raises(ModelUnavailable, match="Only safetensors weights are"):
            made(folder, PaintRequest(BIRD), **FLUX)

    @pytest.mark.parametrize("where", ["pipeline", "component"])
    def test_code_that_comes_with_a_model_is_not_run(self, flux, tmp_path, where):
        folder, sprung = tmp_path / "model", tmp_path / "sprung"
        shutil.copytree(flux, folder)
        index = json.loads((folder / "model_index.json").read_text())
        if where == "pipeline":
            index["_class_name"], code = ["own", "Own"], folder / "own.py"
        else:
            index["vae"], code = ["own", "Own"], folder / "vae" / "own.py"
        (folder / "model_index.json").write_text(json.dumps(index))
        code.write_text(f"open({str(sprung)!r}, 'w').close()\nfrom diffusers import *\n")
        with pytest.raises(ModelUnavailable, match="no code that comes with a model"):
            made(folder, PaintRequest(BIRD), **FLUX)
        assert not sprung.exists()


def test_the_event_loop_stays_free(kontext):
    go = threading.Event()

    def slow(name):
        assert go.wait(PATIENCE_S), "the event loop was blocked"
        return PICTURES(name)

    async def ask():
        backend = build_backend(entry("diffusers", kontext, **KONTEXT), None, slow)
        asked = asyncio.create_task(backend.edit(EditRequest(HORSE, (RED_NAME,))))
        await asyncio.sleep(0.1)
        go.set()
        reply = await asked
        await backend.aclose()
        return reply

    assert pixels(asyncio.run(ask())).shape == (tiny.SIDE, tiny.SIDE, 3)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_model_of_the_hub_says_its_commit(flux):
    tiny.cache(flux, "someone/tiny", COMMIT)
    (reply,) = made("someone/tiny", PaintRequest(BIRD, seed=7), **FLUX)
    (same,) = made(flux, PaintRequest(BIRD, seed=7), revision="ignored for a folder", **FLUX)
    assert reply.pictures == same.pictures
    assert reply.served_model == f"someone/tiny@{COMMIT}"
    with pytest.raises(ModelUnavailable, match="Hub does not give it"):
        made("someone/tiny", PaintRequest(BIRD), revision="another", **FLUX)


WITHOUT = """
import asyncio, sys
from resources.models.backends import build_backend
from resources.models.catalog import Model
from resources.models.requests import LookRequest, PaintRequest

for name, role in {"diffusers": "painter", "transformers": "judge"}.items():
    model = Model(name="tiny", backend=name, family="f", roles=[role], model="m")
    backend = build_backend(model, None, None)
    heavy = {"torch", "diffusers", "transformers", "huggingface_hub"} & set(sys.modules)
    assert not heavy, heavy
    sys.modules["torch"] = sys.modules["transformers"] = None
    ask = backend.paint(PaintRequest("a")) if name == "diffusers" else backend.look(LookRequest(()))
    try:
        asyncio.run(ask)
    except Exception as error:
        print(type(error).__name__, error)
    del sys.modules["torch"], sys.modules["transformers"]
"""


def test_without_the_extra_a_code_location_loads_and_asking_says_what_to_install():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=600
    )
    said = run.stdout.splitlines()
    assert len(said) == 2
    for line in said:
        assert line.startswith("ModelUnavailable Local models need ")
        assert line.endswith("install it with pip install 'counterfactory[local]'")

"""Metrics of transformers, on tiny models that are loaded as real ones are.

Each formula is held against a second computation of it, written out here with plain torch.
"""

import asyncio
import io
import logging
import shutil
import threading
from importlib.metadata import version

import numpy as np
import pytest
from PIL import Image

from resources.calls import CallStore
from resources.models.backends import build_backend
from resources.models.backends.scoring.vision_score import PROMPT, parse_number
from resources.models.client import ModelClient
from resources.models.outcomes import MalformedOutcome
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import ScoreRequest
from resources.storage.image_store import ImageStore
from tests import tiny
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.tiny import safetensors, torch, transformers

pytestmark = pytest.mark.slow

SIZES = [(16, 16), (48, 32), (20, 41), (17, 64)]
PICTURES = Pictures(*map(picture, ["red", "blue", "green", "grey"], SIZES))
TEXTS = ["a bird", "a photo of an animal with five legs", "a flag, a board", "a horse"]
ASKED = [ScoreRequest(text, name) for text in TEXTS[:2] for name in PICTURES]
ASKED += [ScoreRequest(text, name) for text, name in zip(TEXTS[2:], PICTURES, strict=False)]
WORDS = tiny.WORDS + " Yes" * 20
CHAT = "<s>USER: <image>\n{} ASSISTANT:"
PATIENCE_S = 300
LOG = logging.getLogger("test")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return tiny.save_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return tiny.save_llava(tmp_path_factory.mktemp("llava"), words=WORDS, do_sample=True)


@pytest.fixture(scope="module")
def number(tmp_path_factory):
    """A model that says 0.85 of everything."""
    return tiny.save_llava(tmp_path_factory.mktemp("number"), always="0.85")


def scored(model, formula, *asked, **parameters):
    """The replies of a metric made for these requests alone."""
    backend = build_backend(
        entry("transformers", model, formula=formula, **parameters), None, PICTURES
    )
    return answers(backend, *(("score", one) for one in asked))


def by_hand(folder, request, prefix=""):
    """The cosine of a CLIP's embeddings of a picture and a text, and its learned scale."""
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    words = transformers.CLIPTokenizer.from_pretrained(folder)(prefix + request.text).input_ids
    image = Image.open(io.BytesIO(PICTURES[request.image]))
    scale = tiny.SIDE / min(image.size)
    image = image.resize([int(side * scale) for side in image.size], Image.Resampling.BICUBIC)
    left, top = ((side - tiny.SIDE) // 2 for side in image.size)
    image = image.crop((left, top, left + tiny.SIDE, top + tiny.SIDE))
    shown = np.asarray(image) / 255 - [0.48145466, 0.4578275, 0.40821073]
    shown = torch.tensor(shown / [0.26862954, 0.26130258, 0.27577711]).float().permute(2, 0, 1)
    with torch.no_grad():
        seen = model.visual_projection(model.vision_model(shown[None]).pooler_output)[0]
        read = model.text_projection(model.text_model(torch.tensor([words])).pooler_output)[0]
        return (seen @ read / seen.norm() / read.norm()).item(), model.logit_scale.exp().item()


def conversation(folder, request, question, chat=CHAT):
    """What a LLaVA is shown of a picture and a question."""
    processor = transformers.LlavaProcessor.from_pretrained(folder)
    image = Image.open(io.BytesIO(PICTURES[request.image]))
    shown = {"images": image, "return_tensors": "pt", "add_special_tokens": False}
    return processor, processor(text=chat.format(question), **shown)


def probability(folder, request, token, chat=CHAT):
    """How probable a token is to come first after the published question."""
    question = f'Does this figure show "{request.text}"? Please answer yes or no.'
    processor, inputs = conversation(folder, request, question, chat)
    model = transformers.LlavaForConditionalGeneration.from_pretrained(folder).eval()
    with torch.no_grad():
        raised = model(**inputs).logits[0, -1].exp()
    return (raised[processor.tokenizer.convert_tokens_to_ids(token)] / raised.sum()).item()


def same_in_batches(model, formula, *asked, **parameters):
    """The scores of requests one by one, which are those in batches of four."""
    alone = scored(model, formula, *asked, **parameters)
    four = scored(model, formula, *asked, batch=4, **parameters)
    scores = [reply.score for reply in alone]
    assert [reply.score for reply in four] == pytest.approx(scores, rel=1e-4, abs=1e-5)
    assert {reply.provenance["batch"] for reply in alone} == {1}
    assert 4 in {reply.provenance["batch"] for reply in four}
    assert all(reply.usage.gpu_seconds > 0 for reply in alone + four)
    return alone


class TestClipScore:
    def test_it_is_the_cosine_of_the_embeddings(self, clip):
        replies = same_in_batches(clip, "clip_score", *ASKED)
        plain = [by_hand(clip, one, "A photo depicts ")[0] for one in ASKED]
        assert [reply.score for reply in replies] == pytest.approx(plain, abs=1e-5)
        assert len(set(plain)) == len(ASKED)

    def test_it_says_how_it_was_made(self, clip):
        (reply,) = scored(clip, "clip_score", ASKED[0], dtype="bfloat16")
        made = dict(reply.provenance)
        assert made.pop("versions")["torch"] == version("torch")
        assert made.pop("device").startswith("cpu (")
        assert made == {
            "formula": "clip_score",
            "dtype": "bfloat16",
            "batch": 1,
            "prefix": "A photo depicts ",
            "processor": str(clip),
            "pictures": "CLIPImageProcessorPil",
            "pixel_limits": {
                "do_resize": True,
                "size": {"shortest_edge": 16},
                "crop_size": {"height": 16, "width": 16},
            },
        }
        assert reply.served_model == str(clip)
        assert reply.score == pytest.approx(by_hand(clip, ASKED[0], "A photo depicts ")[0], abs=0.1)

    def test_what_precedes_a_text_may_be_told(self, clip):
        (reply,) = scored(clip, "clip_score", ASKED[1], prefix="")
        assert reply.score == pytest.approx(by_hand(clip, ASKED[1])[0], abs=1e-5)

    def test_a_text_that_does_not_fit_is_named_and_spoils_no_other(self, clip):
        async def ask():
            metric = entry("transformers", clip, formula="clip_score", batch=4)
            backend = build_backend(metric, None, PICTURES)
            long = ScoreRequest("a bird " * 40, ASKED[0].image)
            asked = (backend.score(one) for one in (ASKED[0], long, ASKED[1]))
            replies = await asyncio.gather(*asked, return_exceptions=True)
            await backend.aclose()
            return replies

        first, refused, last = asyncio.run(ask())
        assert isinstance(refused, UnacceptableRequest)
        assert "tiny takes 77 tokens, and this text has " in str(refused)
        assert "'A photo depicts a bird a bird" in str(refused)
        (alone, other) = scored(clip, "clip_score", *ASKED[:2])
        assert [first.score, last.score] == pytest.approx([alone.score, other.score], abs=1e-5)

    def test_a_model_that_is_no_clip_is_named(self, llava):
        with pytest.raises(
            ModelUnavailable, match=r"is a Llava\w+, and the formula of tiny takes a CLIPMod"
        ):
            scored(llava, "clip_score", ASKED[0])

    def test_a_score_that_is_no_number_is_never_a_score(self, clip, tmp_path):
        folder = shutil.copytree(clip, tmp_path / "clip")
        weights = safetensors.load_file(folder / "model.safetensors")
        weights["visual_projection.weight"] *= torch.inf
        safetensors.save_file(weights, folder / "model.safetensors", {"format": "pt"})
        with pytest.raises(UnacceptableRequest, match=r"tiny came to no number.*dtype: float32"):
            scored(folder, "clip_score", ASKED[0])

    def test_pictures_are_opened_while_the_model_works(self, clip, monkeypatch):
        working, opened = threading.Event(), threading.Event()
        forward = transformers.CLIPModel.forward

        def noted(name):
            if working.is_set():
                opened.set()
            return PICTURES[name]

        def waiting(model, **inputs):
            working.set()
            assert opened.wait(PATIENCE_S), "the next picture was not opened"
            return forward(model, **inputs)

        async def ask():
            backend = build_backend(entry("transformers", clip, formula="clip_score"), None, noted)
            first = asyncio.create_task(backend.score(ASKED[0]))
            await asyncio.to_thread(working.wait, PATIENCE_S)
            await asyncio.gather(first, backend.score(ASKED[1]))
            await backend.aclose()

        monkeypatch.setattr(transformers.CLIPModel, "forward", waiting)
        asyncio.run(ask())


class TestPickScore:
    def test_it_is_the_cosine_by_the_learned_scale(self, clip, tmp_path):
        model = tiny.save_clip(tmp_path, processor=False)
        replies = same_in_batches(model, "pick_score", *ASKED, processor=str(clip))
        cosine, scale = zip(*(by_hand(clip, one) for one in ASKED), strict=True)
        assert scale[0] == pytest.approx(99.48, abs=0.01)
        plain = np.multiply(cosine, scale)
        assert [reply.score for reply in replies] == pytest.approx(plain, abs=1e-3)
        assert {reply.provenance["processor"] for reply in replies} == {str(clip)}

    def test_a_model_without_a_processor_is_named_with_what_to_do(self, clip, tmp_path):
        model = tiny.save_clip(tmp_path / "clip", processor=False)
        with pytest.raises(
            ModelUnavailable, match=r"has no processor.*`processor` among the parameters of "
        ):
            scored(model, "pick_score", ASKED[0])
        pictures = transformers.AutoImageProcessor.from_pretrained(clip)
        pictures.save_pretrained(model)
        # Without its files, transformers makes a tokenizer that knows no word.
        with pytest.raises(
            ModelUnavailable, match=r"tokenizer of .* knows \d+ tokens, and .* 361: name the"
        ):
            scored(model, "pick_score", ASKED[0])


class TestVqaScore:
    def test_it_is_the_probability_of_yes(self, llava):
        replies = same_in_batches(llava, "vqa_score", *ASKED)
        plain = [probability(llava, one, "▁Yes") for one in ASKED]
        assert [reply.score for reply in replies] == pytest.approx(plain, rel=1e-3)
        assert len(set(plain)) == len(ASKED)
        made = {(reply.provenance["token"], reply.provenance["pictures"]) for reply in replies}
        processor = transformers.AutoProcessor.from_pretrained(llava).image_processor
        assert made == {("▁Yes", type(processor).__name__)}
        assert {reply.text for reply in replies} == {None}

    def test_the_token_is_the_one_that_the_chat_template_leads_to(self, llava, tmp_path):
        folder = shutil.copytree(llava, tmp_path / "llava")
        template = tiny.CHAT.replace("upper }}: ", "upper }}:\n").replace("ANT:", "ANT:\n")
        (folder / "chat_template.jinja").write_text(template)
        (reply,) = scored(folder, "vqa_score", ASKED[0])
        plain = probability(folder, ASKED[0], "Yes", "<s>USER:\n<image>\n{} ASSISTANT:\n")
        assert (reply.provenance["token"], reply.score) == ("Yes", pytest.approx(plain, rel=1e-3))

    def test_a_yes_of_several_tokens_is_not_guessed_at(self, number):
        with pytest.raises(
            ModelUnavailable, match="does not begin an answer with one token for 'Yes'"
        ):
            scored(number, "vqa_score", ASKED[0])


class TestVisionScore:
    def test_it_is_the_number_that_the_model_says(self, number):
        replies = same_in_batches(number, "vision_score", *ASKED[:5])
        assert {(reply.text, reply.score) for reply in replies} == {("0.85", 0.85)}

    def test_it_is_what_the_model_itself_says_decoded_greedily(self, llava):
        (reply,) = scored(llava, "vision_score", ASKED[0], max_new_tokens=6)
        processor, inputs = conversation(llava, ASKED[0], PROMPT.format(text=ASKED[0].text))
        model = transformers.LlavaForConditionalGeneration.from_pretrained(llava)
        made = model.generate(**inputs, do_sample=False, max_new_tokens=6)[0]
        start = inputs["input_ids"].shape[1]
        said = processor.tokenizer.decode(made[start:], skip_special_tokens=True).strip()
        assert (reply.text, reply.usage.output_tokens) == (said, 6)

    def test_text_without_a_number_is_malformed_and_kept(self, llava, tmp_path):
        client = ModelClient(
            calls=CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite"),
            images=ImageStore(root=str(tmp_path / "images")),
        )
        name = client.images.put(PICTURES[ASKED[0].image])
        metric = entry("transformers", llava, formula="vision_score", max_new_tokens=4)
        for sent in (1, 0):
            asked = client.ask(metric, [ScoreRequest("a bird", name)], LOG)
            (outcome,) = asked.outcomes
            assert isinstance(outcome, MalformedOutcome)
            assert (outcome.reason, asked.sent) == ("no number that is a score", sent)
            assert outcome.text
        client.close()
        client.calls.close()

    @pytest.mark.parametrize(
        ("text", "score"),
        [
            ("0.85", 0.85),
            ("1", 1.0),
            ("0", 0.0),
            (".5", 0.5),
            ("0,75.", 0.75),
            ('{"score": 0.4}', 0.4),
            ("**0.67** because 0.67 it is", 0.67),
            ("", None),
            ("good", None),
            ("1.2", None),
            ("-0.5", None),
            ("85%", None),
            ("0.8/1", None),
            ("3 of 4", None),
            ("v0.5", None),
            ("0.5 to 0.6", None),
        ],
    )
    def test_a_number_is_read_where_it_is_the_only_one(self, text, score):
        assert parse_number(text) == score


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        (
            {"formula": "clip_score", "prefix": 5},
            "parameter prefix of tiny in models.yaml is wrong",
        ),
        ({"formula": "clip_score", "processor": "/no/folder"}, "/no/folder is no folder"),
        ({"formula": "vision_score", "max_token": 5}, "takes no max_token for"),
    ],
)
def test_a_wrong_parameter_is_named(clip, llava, parameters, says):
    model = llava if parameters["formula"] == "vision_score" else clip
    with pytest.raises(ModelUnavailable, match=says):
        scored(model, parameters.pop("formula"), ASKED[0], **parameters)

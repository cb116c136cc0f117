"""Judges and writers of transformers, on a tiny LLaVA-1.5 that is loaded as a real one is."""

import asyncio
import io
import json
import shutil
import threading
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec

import pytest
from jsonschema import validate
from PIL import Image

from resources.models.backends import build_backend
from resources.models.backends.transformers import compute_sampling_seed
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import LookRequest, Turn, WriteRequest, get_request_kind
from resources.models.weights import find_weights
from tests import tiny
from tests.resources.models.backends.local_models import (
    Pictures,
    answers,
    entry,
    picture,
)
from tests.tiny import safetensors, torch, transformers

pytestmark = pytest.mark.slow

RED, BLUE = picture("red"), picture("blue", (48, 32))
PICTURES = Pictures(RED, BLUE)
RED_NAME, BLUE_NAME = PICTURES
LEGS = "how many legs does it have?"
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"legs": {"enum": [1, 2]}, "kind": {"type": "string", "maxLength": 3}},
        "required": ["legs", "kind"],
        "additionalProperties": False,
    }
)
SHORT = {"max_new_tokens": 12}
SAMPLED = {**SHORT, "do_sample": True, "temperature": 1.0}
PATIENCE_S = 300
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return tiny.save_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny.save_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def plainly(llava):
    """What the model itself makes of a prompt, written out by hand: (tokens in, tokens out)."""
    processor = transformers.LlavaProcessor.from_pretrained(llava)
    model = transformers.LlavaForConditionalGeneration.from_pretrained(llava)

    def answer(prompt, *shown, **parameters):
        images = [Image.open(io.BytesIO(data)) for data in shown]
        inputs = processor(
            text=prompt, images=images or None, return_tensors="pt", add_special_tokens=False
        )
        made = model.generate(**inputs, pad_token_id=3, **parameters)[0]
        start = inputs["input_ids"].shape[1]
        text = processor.tokenizer.decode(made[start:], skip_special_tokens=True).strip()
        return text, start, len(made) - start

    return answer


def said(model, *requests, **parameters):
    """The replies of a backend made for these requests alone."""
    backend = build_backend(entry("transformers", model, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(one), one) for one in requests))


def look(text, *images, sample=0):
    return LookRequest((Turn("user", text, images),), sample)


class TestLooking:
    def test_it_is_what_the_model_itself_says(self, llava, plainly):
        (reply,) = said(llava, look(LEGS, RED_NAME), **SHORT)
        text, start, length = plainly(f"<s>USER: <image>\n{LEGS} ASSISTANT:", RED, **SHORT)
        assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == (
            text,
            start,
            length,
        )
        assert reply.served_model == str(llava)

    def test_the_picture_and_the_question_are_looked_at(self, llava):
        asked = [look(LEGS, RED_NAME), look(LEGS, BLUE_NAME), look("a flag", RED_NAME)]
        assert len({reply.text for reply in said(llava, *asked, **SHORT)}) == 3

    def test_a_conversation_goes_on(self, llava, plainly):
        turns = (
            Turn("system", "Answer with a number"),
            Turn("user", LEGS, (RED_NAME, BLUE_NAME)),
            Turn("assistant", "{4}"),
            Turn("user", "Please check again."),
        )
        (reply,) = said(llava, LookRequest(turns), **SHORT)
        prompt = (
            f"<s>SYSTEM: Answer with a number USER: <image>\n<image>\n{LEGS} "
            "ASSISTANT: {4} USER: Please check again. ASSISTANT:"
        )
        assert reply.text == plainly(prompt, RED, BLUE, **SHORT)[0]

    def test_a_batch_says_the_same(self, llava, monkeypatch):
        sizes, generate = [], transformers.LlavaForConditionalGeneration.generate

        def noted(model, **inputs):
            sizes.append(len(inputs["input_ids"]))
            return generate(model, **inputs)

        monkeypatch.setattr(transformers.LlavaForConditionalGeneration, "generate", noted)
        asked = [
            look(words, name) for words in (LEGS, "a flag", "a") for name in (RED_NAME, BLUE_NAME)
        ]
        asked.append(look(LEGS, RED_NAME, BLUE_NAME))
        asked.append(WriteRequest((Turn("user", LEGS),)))
        alone = said(llava, *asked, **SHORT)
        assert said(llava, *asked, batch=4, **SHORT) == alone
        # Together are only those with as many pictures: six with one, one with two, one with none;
        # of the six, as many as have come when the model is free.
        assert sizes[:8] == [1] * 8
        assert sum(sizes[8:]) == 8
        assert sizes[8:].count(1) >= 2
        assert 1 < max(sizes[8:]) <= 4
        assert len({reply.text for reply in alone}) == len(asked)

    def test_it_writes_without_a_picture(self, llava, plainly):
        (reply,) = said(llava, WriteRequest((Turn("user", "a photo of"),)), **SHORT)
        assert reply.text == plainly("<s>USER: a photo of ASSISTANT:", **SHORT)[0]

    def test_attention_is_computed_as_told(self, llava):
        for attention in ("eager", "sdpa"):
            judge = entry("transformers", llava, attention=attention)
            network = build_backend(judge, None, PICTURES)._speaking.network
            assert network.config._attn_implementation == attention
        with pytest.raises(ModelUnavailable, match=r"attention .*would fetch code from the Hub"):
            said(llava, look(LEGS, RED_NAME), attention="kernels-community/flash-attn")


class TestConditions:
    def test_an_answer_says_what_it_depends_on(self, llava):
        (reply,) = said(llava, look(LEGS, RED_NAME), dtype="bfloat16", attention="eager", **SHORT)
        facts = dict(reply.provenance)
        template = (llava / "chat_template.jinja").read_text()
        assert facts.pop("versions") == {name: version(name) for name in ("torch", "pillow")}
        assert facts.pop("device").startswith("cpu (")
        assert facts == {
            "engine": f"transformers {version('transformers')}",
            "dtype": "bfloat16",
            "attention": "eager",
            "chat_template": sha256(template.encode()).hexdigest()[:16],
            "image_processor": "CLIPImageProcessorPil",
            "pixel_limits": {
                "do_resize": True,
                "size": {"shortest_edge": 16},
                "crop_size": {"height": 16, "width": 16},
            },
            "weights": find_weights(llava).digest[:16],
        }

    def test_another_template_and_other_pixels_are_seen_in_it(self, llava, tmp_path):
        folder = copied(llava, tmp_path)
        template = folder / "chat_template.jinja"
        template.write_text(template.read_text() + " ")
        settings = json.loads((folder / "processor_config.json").read_text())
        settings["image_processor"]["size"] = {"shortest_edge": 20}
        (folder / "processor_config.json").write_text(json.dumps(settings))
        before, after = (
            said(model, look(LEGS, RED_NAME), **SHORT)[0].provenance for model in (llava, folder)
        )
        assert {name for name, fact in before.items() if after[name] != fact} == {
            "chat_template",
            "pixel_limits",
        }


class TestLength:
    # transformers leaves the files of further templates open.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_of_several_templates_the_default_is_taken(self, llava, tmp_path):
        folder = shutil.copytree(llava, tmp_path / "several")
        processor = transformers.AutoProcessor.from_pretrained(folder)
        processor.chat_template = {"default": processor.chat_template, "tool_use": "{{ nothing }}"}
        processor.save_pretrained(folder)
        loaded = transformers.AutoProcessor.from_pretrained(folder)
        assert set(loaded.chat_template) == {"default", "tool_use"}
        # With a schema, templates that can are told not to think.
        asked = look(LEGS, RED_NAME), WriteRequest((Turn("user", LEGS),), '{"enum": [4, 5]}')
        several, one = ([reply.text for reply in said(x, *asked, **SHORT)] for x in (folder, llava))
        assert several == one

    def test_an_answer_ends_where_the_model_ends_it(self, llava, tmp_path):
        asked = [look(LEGS, RED_NAME), look(LEGS, BLUE_NAME)]
        whole = said(llava, *asked, **SHORT)
        tokenizer = transformers.AutoTokenizer.from_pretrained(llava)
        end = tokenizer(whole[0].text, add_special_tokens=False).input_ids[4]
        stopped = said(llava, *asked, batch=2, eos_token_id=end, **SHORT)
        for before, after in zip(whole, stopped, strict=True):
            assert before.text.startswith(after.text)
        assert stopped[0].usage.output_tokens < stopped[1].usage.output_tokens == 12

    def test_without_a_limit_it_is_1024_tokens(self, llava):
        (reply,) = said(llava, look(LEGS, RED_NAME), eos_token_id=-1)
        assert reply.usage.output_tokens == 1024

    def test_the_model_s_own_configuration_comes_before_that(self, tmp_path):
        folder = tiny.save_llava(tmp_path, max_new_tokens=5)
        (own,) = said(folder, look(LEGS, RED_NAME))
        (told,) = said(folder, look(LEGS, RED_NAME), max_new_tokens=7)
        assert (own.usage.output_tokens, told.usage.output_tokens) == (5, 7)


class TestSampling:
    def test_asked_again_it_says_the_same_in_any_company(self, llava):
        asked = [look(LEGS, RED_NAME, sample=n) for n in range(3)]
        first = said(llava, *asked, **SAMPLED)
        assert said(llava, *reversed(asked), batch=8, **SAMPLED) == first[::-1]
        assert len({reply.text for reply in first}) == 3

    def test_it_is_what_the_model_itself_says_with_that_seed(self, llava, plainly):
        asked = look(LEGS, RED_NAME, sample=2)
        (reply,) = said(llava, asked, **SAMPLED)
        with torch.random.fork_rng():
            torch.manual_seed(compute_sampling_seed(asked))
            plain = plainly(f"<s>USER: <image>\n{LEGS} ASSISTANT:", RED, **SAMPLED)
        assert reply.text == plain[0]

    def test_a_model_that_samples_by_itself_is_seeded_too(self, tmp_path):
        folder = tiny.save_llava(tmp_path, do_sample=True)
        asked = [look(LEGS, RED_NAME), look("a flag", RED_NAME)]
        assert said(folder, *asked, **SHORT) == said(folder, *asked, **SHORT)

    def test_no_two_requests_share_their_luck(self):
        asked = [look(LEGS, name, sample=n) for name in PICTURES for n in range(3)]
        asked += [look("a flag", RED_NAME), WriteRequest((Turn("user", LEGS),))]
        assert len({compute_sampling_seed(one) for one in asked}) == len(asked)

    def test_the_randomness_of_the_process_is_left_alone(self, llava):
        before = torch.get_rng_state()
        said(llava, look(LEGS, RED_NAME), **SAMPLED)
        assert (torch.get_rng_state() == before).all()


class TestSchemas:
    """Random weights say what is no JSON, unless each token is chosen by the schema."""

    @pytest.mark.parametrize("parameters", [{}, {"do_sample": True}])
    def test_an_answer_follows_its_schema(self, llava, llama, parameters):
        asked = [WriteRequest((Turn("user", text),), schema=SCHEMA) for text in (LEGS, "a flag")]
        free = WriteRequest((Turn("user", LEGS),))
        for model in (llava, llama):
            *replies, plain = said(
                model,
                *asked,
                free,
                batch=3,
                max_new_tokens=60,
                repetition_penalty=1.5,
                **parameters,
            )
            for reply in replies:
                validate(json.loads(reply.text), json.loads(SCHEMA))
            with pytest.raises(ValueError, match="Expecting"):
                json.loads(plain.text)


class TestTextAlone:
    def test_it_writes_what_the_model_itself_does(self, llama):
        tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
        model = transformers.LlamaForCausalLM.from_pretrained(llama)
        inputs = tokenizer(
            f"<s>SYSTEM: a photo USER: {LEGS} ASSISTANT:",
            return_tensors="pt",
            add_special_tokens=False,
        )
        made = model.generate(**inputs, pad_token_id=3, **SHORT)[0, inputs["input_ids"].shape[1] :]
        turns = (Turn("system", "a photo"), Turn("user", LEGS))
        for request in (WriteRequest(turns), LookRequest(turns)):
            (reply,) = said(llama, request, **SHORT)
            assert reply.text == tokenizer.decode(made, skip_special_tokens=True).strip()

    def test_a_batch_writes_the_same(self, llama):
        asked = [
            WriteRequest((Turn("user", text),)) for text in (LEGS, "a flag", "a bird, a horse")
        ]
        assert said(llama, *asked, batch=3, **SHORT) == said(llama, *asked, **SHORT)

    def test_a_picture_is_refused_with_the_remedy(self, llama):
        with pytest.raises(UnacceptableRequest, match=r"reads text alone.*use it as a writer"):
            said(llama, look(LEGS, RED_NAME), **SHORT)


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("parameters", "said_so"),
        [
            ({"max_token": 5}, "takes no max_token for"),
            ({"return_dict_in_generate": True}, "takes no return_dict_in_generate for"),
            ({"max_new_tokens": -3}, "parameters of tiny in models.yaml: .*max_new_tokens"),
            ({"batch": "4"}, "parameter batch of tiny in models.yaml is wrong"),
            ({"device": "nowhere"}, "cannot be loaded: .*nowhere"),
            ({"dtype": "float5"}, "cannot be loaded: .*float5"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, llava, parameters, said_so):
        with pytest.raises(ModelUnavailable, match=said_so):
            said(llava, look(LEGS, RED_NAME), **parameters)

    def test_a_schema_that_no_grammar_expresses_is_named(self, llava):
        with pytest.raises(UnacceptableRequest, match="cannot be held to this JSON Schema: "):
            said(llava, WriteRequest((Turn("user", LEGS),), schema='{"type": "nonsense"}'))

    def test_answers_to_a_schema_are_not_searched_with_beams(self, llava):
        asked = WriteRequest((Turn("user", LEGS),), schema=SCHEMA)
        with pytest.raises(UnacceptableRequest, match="set num_beams: 1"):
            said(llava, asked, num_beams=2, **SHORT)

    @pytest.mark.parametrize("name", ["nobody/nothing", "/no/folder"])
    def test_a_model_that_is_not_there_is_named_with_what_to_do(self, name):
        with pytest.raises(ModelUnavailable, match=f"{name} is no folder.*hf download {name}$"):
            said(name, look(LEGS, RED_NAME))

    def test_a_model_without_a_chat_template_is_named(self, llava, tmp_path):
        folder = copied(llava, tmp_path)
        (folder / "chat_template.jinja").unlink()
        with pytest.raises(ModelUnavailable, match="has no chat template"):
            said(folder, look(LEGS, RED_NAME), **SHORT)

    def test_a_tokenizer_without_padding_is_given_some(self, llava, tmp_path):
        folder = copied(llava, tmp_path)
        config = json.loads((folder / "tokenizer_config.json").read_text())
        del config["pad_token"]
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        asked = [look(LEGS, RED_NAME), look("a flag", RED_NAME)]
        assert transformers.AutoTokenizer.from_pretrained(folder).pad_token is None
        replies = zip(
            said(folder, *asked, batch=2, **SHORT), said(llava, *asked, **SHORT), strict=True
        )
        assert all(one.text == other.text for one, other in replies)

    def test_memory_that_runs_out_names_the_remedy(self, llava):
        with pytest.raises(
            ModelUnavailable, match=r"ran out of memory.*a smaller batch \(it is 3\)"
        ):
            said(llava, look(LEGS, RED_NAME), batch=3, num_beams=2**40, **SHORT)

    @pytest.mark.skipif(bool(find_spec("torchvision")), reason="torchvision is here")
    def test_a_processor_that_needs_torchvision_says_so(self, llava, tmp_path):
        folder = copied(llava, tmp_path)
        for name in ("processor_config.json", "config.json"):
            config = json.loads((folder / name).read_text())
            config |= {
                "processor_class": "LlavaOnevisionProcessor",
                "model_type": "llava_onevision",
            }
            (folder / name).write_text(json.dumps(config))
        moving = {"video_processor_type": "LlavaOnevisionVideoProcessor"}
        (folder / "video_preprocessor_config.json").write_text(json.dumps(moving))
        with pytest.raises(
            ModelUnavailable, match=r"needs torchvision in the version that belongs to torch 2"
        ):
            said(folder, look(LEGS, RED_NAME), **SHORT)


class TestWhatIsNotTrusted:
    def test_a_pickle_is_not_opened(self, llava, tmp_path):
        folder = copied(llava, tmp_path)
        weights = safetensors.load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        torch.save(weights, folder / "pytorch_model.bin")
        with pytest.raises(ModelUnavailable, match="Only safetensors weights are"):
            said(folder, look(LEGS, RED_NAME), **SHORT)

    @pytest.mark.parametrize("where", ["config.json", "processor_config.json"])
    def test_code_that_comes_with_a_model_is_not_run(self, llava, tmp_path, where):
        folder, sprung = copied(llava, tmp_path), tmp_path / "sprung"
        config = json.loads((folder / where).read_text())
        own = {"AutoConfig": "own.Own", "AutoProcessor": "own.Own"}
        config |= {"auto_map": own, "model_type": "own", "processor_class": "Own"}
        (folder / where).write_text(json.dumps(config))
        (folder / "own.py").write_text(f"open({str(sprung)!r}, 'w').close()\n")
        with pytest.raises(ModelUnavailable, match="no code that comes with a model"):
            said(folder, look(LEGS, RED_NAME), **SHORT)
        assert not sprung.exists()


def test_the_event_loop_stays_free(llava):
    go = threading.Event()

    def slow(name):
        assert go.wait(PATIENCE_S), "the event loop was blocked"
        return PICTURES(name)

    async def ask():
        backend = build_backend(entry("transformers", llava, **SHORT), None, slow)
        asked = asyncio.create_task(backend.look(look(LEGS, RED_NAME)))
        await asyncio.sleep(0.1)
        go.set()
        reply = await asked
        await backend.aclose()
        return reply

    assert asyncio.run(ask()).text


def test_a_model_of_the_hub_says_its_commit(llava):
    tiny.cache(llava, "someone/llava", COMMIT)
    (reply,) = said("someone/llava", look(LEGS, RED_NAME), **SHORT)
    (same,) = said(llava, look(LEGS, RED_NAME), **SHORT)
    assert reply.text == same.text
    assert reply.served_model == f"someone/llava@{COMMIT}"
    assert (reply.provenance["commit"], "weights" in reply.provenance) == (COMMIT, False)


def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")

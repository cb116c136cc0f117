"""Folders, templates and answers of local models that are not as they should be."""

import json
import shutil
import struct

import pytest

from assets.kit.judging import scored_columns
from assets.kit.step import StepReply
from metrics.reply_parsing.bracketed_answers import read_count
from metrics.reply_parsing.ratings import read_rating
from resources.calls.call import StoredAnswer
from resources.models.backends import build_backend
from resources.models.outcomes import MalformedOutcome, read_outcome
from resources.models.recording import record_answer
from resources.models.replies import ModelUnavailable, UnacceptableRequest
from resources.models.requests import LookRequest, Turn, WriteRequest
from resources.storage.image_store import ImageStore
from tests import tiny
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture

pytestmark = pytest.mark.slow

PICTURES = Pictures(picture("red"))
QUESTION = "how many legs does it have?"
LOOK = LookRequest((Turn("user", QUESTION, tuple(PICTURES)),))
WRITE = WriteRequest((Turn("user", QUESTION),))
LONG = {"type": "object", "properties": {"kind": {"type": "string", "minLength": 99}}}
SCHEMA = json.dumps({**LONG, "required": ["kind"], "additionalProperties": False})
GGUF = b"GGUF" + struct.pack("<IQQ", 3, 0, 0)
SERVED = "set `model` in models.yaml to the folder .*, or serve the file .*openai_compatible"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A LLaVA-1.5 and a Llama."""
    root = tmp_path_factory.mktemp("models")
    return {"llava": tiny.save_llava(root / "llava"), "llama": tiny.save_llama(root / "llama")}


@pytest.fixture
def folder(folders, kind, tmp_path):
    return shutil.copytree(folders[kind], tmp_path / "model")


both_kinds = pytest.mark.parametrize("kind", ["llava", "llama"])


def ask(model, request=WRITE, **parameters):
    backend = build_backend(
        entry("transformers", model, **{"max_new_tokens": 12, **parameters}), None, PICTURES
    )
    method = "look" if isinstance(request, LookRequest) else "write"
    return answers(backend, (method, request))[0]


def read(reply, request, root):
    """The outcome of a reply that was stored."""
    answer = record_answer(reply, ImageStore(root=str(root)))
    return read_outcome(StoredAnswer("key", answer, reply.served_model, 1, 1), request)


class TestFiles:
    def test_a_gguf_file_names_what_to_take(self, tmp_path):
        path = tmp_path / "model.gguf"
        path.write_bytes(GGUF)
        with pytest.raises(ModelUnavailable, match=f"^{path} is a GGUF file, .*: {SERVED}$"):
            ask(path)

    def test_a_folder_of_gguf_files_names_what_to_take(self, tmp_path):
        (tmp_path / "model.gguf").write_bytes(GGUF)
        with pytest.raises(ModelUnavailable, match=f"^{tmp_path} holds GGUF files, .*: {SERVED}$"):
            ask(tmp_path)

    @pytest.mark.parametrize("kind", ["llama"])
    def test_a_file_of_weights_names_its_folder(self, folder):
        with pytest.raises(ModelUnavailable, match=r"is a file: set `model` .* to the folder that"):
            ask(folder / "model.safetensors")

    @both_kinds
    def test_a_folder_without_a_tokenizer_names_the_files(self, folder):
        for path in folder.glob("tokenizer*"):
            path.unlink()
        with pytest.raises(ModelUnavailable, match=f"^{folder} has no tokenizer: copy tokenizer."):
            ask(folder)

    @pytest.mark.parametrize("kind", ["llama"])
    def test_with_a_tokenizer_another_fault_is_not_called_one(self, folder):
        with pytest.raises(ModelUnavailable, match=r"cannot be loaded: .*nowhere"):
            ask(folder, device="nowhere")

    @pytest.mark.parametrize("kind", ["llava"])
    @pytest.mark.parametrize("name", ["size", "crop_size"])
    def test_a_processor_that_leaves_one_pixel_is_named(self, folder, name):
        path = folder / "processor_config.json"
        config = json.loads(path.read_text())
        config["image_processor"][name] = {"height": 1, "width": 1}
        path.write_text(json.dumps(config))
        with pytest.raises(ModelUnavailable, match=f"makes pictures 1 px small: correct `{name}`"):
            ask(folder, LOOK)


class TestTemplates:
    @both_kinds
    @pytest.mark.parametrize(
        ("template", "problem"),
        [
            ("{{ raise_exception('Only users may speak') }}", "Only users may speak"),
            ("{{ 1 / 0 }}", "division by zero"),
            ("{{ '' }}", "it writes nothing"),
        ],
    )
    def test_what_it_raises_is_told_with_the_remedy(self, folder, template, problem):
        (folder / "chat_template.jinja").write_text(template)
        expected = rf"^The chat template of {folder} makes no prompt .*: .*{problem}.*\. Correct"
        with pytest.raises(UnacceptableRequest, match=expected):
            ask(folder)


class TestAnswers:
    """A row has an outcome, and a reason where there is no score, whatever a model answers."""

    @pytest.mark.parametrize(
        ("reply_text", "count"),
        [
            ("", "unparsed"),
            (QUESTION, "unparsed"),
            ("Das Tier hat fünf Beine", "unparsed"),
            ("<think>four</think>{5}", "5"),
            ("<think>{4}", "unparsed"),
        ],
    )
    def test_a_judge_s(self, tmp_path, reply_text, count):
        words = f"{tiny.WORDS} {reply_text}"
        folder = tiny.save_llava(tmp_path / "model", words=words, always=reply_text)
        reply = ask(folder, LOOK, max_new_tokens=30)
        assert reply.text == reply_text
        parsed = read_count(reply.text)
        assert (parsed.answer or parsed.outcome) == count
        ending = StepReply(read(reply, LOOK, tmp_path), ("key",))
        rating = scored_columns(ending, lambda text: read_rating(text, 1, 5))
        assert (rating["score"], rating["outcome"]) == (None, "unparsed")
        assert rating["reason"]

    @both_kinds
    def test_one_that_never_ends_is_cut_off_and_malformed(self, folder, tmp_path):
        request = WriteRequest(WRITE.turns, SCHEMA)
        reply = ask(folder, request, max_new_tokens=9)
        assert reply.usage.output_tokens == 9
        outcome = read(reply, request, tmp_path)
        assert isinstance(outcome, MalformedOutcome)
        assert outcome.reason

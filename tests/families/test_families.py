"""Families of judges, from an entry of models.yaml on: answers, scores, training and attacks.

Every checkpoint is tiny, of random weights in the family's own classes, and read from a folder.
"""

import json
from functools import partial
from pathlib import Path

import pytest

from resources.models.replies import ModelUnavailable, RequestFault
from resources.models.requests import LookRequest, ScoreRequest, Turn, WriteRequest
from resources.training.training_errors import TrainingError
from tests.families import abilities
from tests.families.abilities import NAMES
from tests.families.beside import open_process
from tests.families.checkpoints import FAMILIES, save
from tests.families.results import REFUSALS, WITHOUT_TORCHVISION, format_table

QUESTIONS = ("how many legs?", "Is there a flag, a bird or a horse? Answer", "a dog", "a board?")
LENGTH = {"max_new_tokens": 12, "eos_token_id": -1, "dtype": "float32"}
DOCUMENT = Path(__file__).parents[2] / "docs" / "local-models.md"

families = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="session")
def beside():
    """Runs functions where torchvision is."""
    with open_process() as pool:
        yield lambda work, *arguments: pool.submit(work, *arguments).result()


@pytest.fixture(scope="session")
def _folders():
    return {}


@pytest.fixture
def folder(family, beside, _folders, tmp_path_factory):
    """The family's checkpoint, saved once."""
    if family not in _folders:
        _folders[family] = beside(save, family, tmp_path_factory.mktemp("family"))
    return _folders[family]


@pytest.fixture
def ask(beside, folder):
    return lambda *requests, **parameters: beside(
        partial(abilities.ask, folder, *requests, **parameters)
    )


def look(text, *names):
    return LookRequest((Turn("user", text, names),))


def refused(family, ability):
    return pytest.raises((RequestFault, TrainingError), match=REFUSALS[family, ability])


def texts(replies):
    return [reply.text for reply in replies]


@pytest.mark.slow
@families
class TestFamilies:
    def test_an_answer_is_about_the_picture_and_the_same_in_a_batch_of_mixed_sizes(self, ask):
        asked = [look(QUESTIONS[0], name) for name in NAMES]
        asked += [look(text, name) for text, name in zip(QUESTIONS, NAMES, strict=True)][1:]
        alone = texts(ask(*asked, **LENGTH))
        assert texts(ask(*asked, batch=len(asked), **LENGTH)) == alone
        assert len(set(alone[: len(NAMES)])) > 2

    def test_several_pictures_in_a_turn_are_seen_alone_and_in_a_batch(self, ask):
        shown = [NAMES[:2], NAMES[1::-1], NAMES[2:], NAMES[:3], NAMES[1:]]
        asked = [look(QUESTIONS[0], *names) for names in shown]
        alone = texts(ask(*asked, **LENGTH))
        assert texts(ask(*asked, batch=len(asked), **LENGTH)) == alone
        assert len(set(alone)) > 1

    def test_a_conversation_goes_on_with_another_picture(self, ask, family):
        first, reply = Turn("user", QUESTIONS[0], NAMES[:1]), Turn("assistant", "Yes")
        conversations = [
            LookRequest((first, reply, Turn("user", text, names)))
            for text, names in (("again?", ()), ("how many?", NAMES[1:2]), ("a", NAMES[3:]))
        ]
        if (family, "conversations") in REFUSALS:
            with refused(family, "conversations"):
                ask(conversations[0], **LENGTH)
            return
        alone = texts(ask(*conversations, **LENGTH))
        assert texts(ask(*conversations, batch=3, **LENGTH)) == alone
        assert len(set(alone)) > 1

    def test_what_is_to_be_json_follows_its_schema_without_a_thought(self, ask, family):
        request = WriteRequest((Turn("user", QUESTIONS[0]),), schema=json.dumps({"enum": [1, 2]}))
        if (family, "text, JSON") in REFUSALS:
            with refused(family, "text, JSON"):
                ask(request)
            return
        assert ask(request)[0].text in {"1", "2"}

    def test_the_probability_of_yes_is_the_same_in_a_batch_and_in_training(
        self, ask, beside, folder
    ):
        questions = [*zip((QUESTIONS[0], *QUESTIONS[:3]), NAMES, strict=True)]
        asked = [ScoreRequest(text, name) for text, name in questions]
        how = {"formula": "vqa_score", "dtype": "float32"}
        alone, together = (
            [reply.score for reply in ask(*asked, **how, batch=batch)] for batch in (1, 4)
        )
        assert together == pytest.approx(alone, rel=1e-4)
        assert alone[0] != pytest.approx(alone[1], rel=1e-3)
        assert beside(abilities.predict, folder, questions) == pytest.approx(alone, rel=1e-4)

    def test_an_adapter_is_trained_and_answers_with_it(self, ask, beside, folder, family, tmp_path):
        if (family, "fine-tuning, adapter") in REFUSALS:
            with refused(family, "fine-tuning, adapter"):
                beside(abilities.tune, folder, tmp_path)
            return
        adapter = beside(abilities.tune, folder, tmp_path)
        asked = [look(text, name) for text in QUESTIONS for name in NAMES]
        adapted = ask(*asked, **LENGTH, adapter=adapter)
        assert adapted[0].served_model == f"{folder} with {Path(adapter).name}"
        assert texts(adapted) != texts(ask(*asked, **LENGTH))

    def test_a_step_of_ranking_is_made_or_refused_with_the_remedy(
        self, beside, folder, family, tmp_path
    ):
        if (family, "ProtoScore by GRPO") in REFUSALS:
            with refused(family, "ProtoScore by GRPO"):
                beside(abilities.rank, folder, tmp_path)
            return
        assert Path(beside(abilities.rank, folder, tmp_path), "adapter_model.safetensors").is_file()

    def test_an_attack_finds_its_encoder_or_names_the_remedy(self, beside, folder, family):
        if (family, "attack") in REFUSALS:
            with refused(family, "attack"):
                beside(abilities.attack, folder)
            return
        result = beside(abilities.attack, folder)
        assert result.png
        assert result.similarity < result.noise_similarity

    # PaliGemma's processor makes an array of a tensor.
    @pytest.mark.filterwarnings("ignore:__array__ implementation")
    def test_without_torchvision_it_answers_or_names_the_remedy(self, folder, family):
        asked = partial(abilities.ask, folder, look(QUESTIONS[0], NAMES[0]), **LENGTH)
        if family in WITHOUT_TORCHVISION:
            assert asked()[0].usage.output_tokens == LENGTH["max_new_tokens"]
            return
        with pytest.raises(ModelUnavailable, match="needs torchvision in the version that belongs"):
            asked()


@pytest.mark.slow
class TestThinking:
    @pytest.mark.parametrize(
        ("family", "mark"), [("Qwen3.5", "<think>\n"), ("Kimi K2.5", "<think>"), ("GLM-4.6V", "")]
    )
    def test_it_is_left_out_on_demand_and_marked_where_it_is_begun(self, ask, mark):
        asked = look(QUESTIONS[0], NAMES[0])
        default, on, off = (
            ask(asked, **LENGTH, **how)[0] for how in ({}, {"thinking": True}, {"thinking": False})
        )
        assert default.text == on.text
        assert on.text.startswith(mark)
        assert not off.text.startswith("<think>")
        assert off.usage.input_tokens > on.usage.input_tokens

    @pytest.mark.parametrize("family", ["Qwen2-VL"])
    def test_a_model_that_has_no_choice_is_refused_with_the_remedy(self, ask):
        with pytest.raises(ModelUnavailable, match="neither on nor off: take `thinking` from the"):
            ask(look(QUESTIONS[0], NAMES[0]), thinking=True)


def test_the_document_has_what_was_found():
    assert format_table() in DOCUMENT.read_text()

"""Tokens of answers, by chat templates as models have them and by both kinds of tokenizer."""

from types import SimpleNamespace

import pytest

from resources.models.backends.chat_models import ChatModel
from resources.models.replies import ModelUnavailable
from tests.tiny import tokenizers, transformers

pytestmark = pytest.mark.slow

ENDS = ("<end>", "<end_of_turn>")
WORDS = ["USER: ? ASSISTANT: Yes No", "user ?", "assistant Yes", "Yes No"] * 20
TEXT = "{% for part in turn.content %}{{ part.text }}{% endfor %}"


def template(turn, asking):
    """A chat template: what it writes of each turn, and what an answer comes after."""
    turns = "{% for turn in messages %}" + turn.replace("TEXT", TEXT) + "{% endfor %}"
    return turns + "{% if add_generation_prompt %}" + asking + "{% endif %}"


LLAVA = template("{{ turn.role | upper }}: TEXT ", "ASSISTANT:")
QWEN = template("<start>{{ turn.role }}\nTEXT<end>\n", "<start>assistant\n")
IDEFICS = template("{{ turn.role | upper }}: TEXT<end_of_turn>\n", "ASSISTANT:")
STRIPPED = template("{{ turn.role | upper }}:TEXT", "ASSISTANT:")
SPACED = template("{{ turn.role | upper }}: TEXT ", "ASSISTANT: ")


def tokenizer(kind):
    """One of bytes, as Qwen's, or one that begins texts with a space, as Llama's."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="?"))
    if kind == "bytes":
        made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = tokenizers.decoders.ByteLevel()
    else:
        made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        made.decoder = tokenizers.decoders.Metaspace()
    special = ["?", "<start>", *ENDS]
    trainer = tokenizers.trainers.BpeTrainer(
        special_tokens=special, vocab_size=300, initial_alphabet=["\n", "\u010a"]
    )
    made.train_from_iterator(WORDS, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token=ENDS[0])


def tokens(kind, chat, answer="Yes"):
    """The tokens of an answer, one after the other."""
    of = tokenizer(kind)
    of.chat_template = chat
    ends = of.convert_tokens_to_ids([*ENDS])
    speaking = ChatModel.__new__(ChatModel)
    speaking._model = SimpleNamespace(model="tiny")
    speaking.network = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=ends))
    speaking.tokenizer = of
    speaking.processor = SimpleNamespace(
        tokenizer=of, chat_template=chat, apply_chat_template=of.apply_chat_template
    )
    return "".join(of.convert_ids_to_tokens(speaking.tokenize_answer(answer)))


@pytest.mark.parametrize(
    ("kind", "chat", "expected"),
    [
        ("bytes", LLAVA, "\u0120Yes<end>"),
        ("bytes", QWEN, "Yes<end>"),
        ("bytes", IDEFICS, "\u0120Yes<end_of_turn>"),
        ("bytes", STRIPPED, "Yes<end>"),
        ("bytes", SPACED, "Yes<end>"),
        ("spaces", LLAVA, "\u2581Yes<end>"),
        ("spaces", IDEFICS, "\u2581Yes<end_of_turn>"),
        ("spaces", STRIPPED, "Yes<end>"),
        ("spaces", SPACED, "Yes<end>"),
    ],
)
def test_an_answer_has_the_tokens_that_follow_what_it_is_asked_by_and_an_end(kind, chat, expected):
    assert tokens(kind, chat) == expected
    assert tokens(kind, chat, " Yes\n") == expected


def test_a_template_that_writes_an_answer_elsewhere_is_refused():
    thinking = template("{{ turn.role | upper }}: TEXT ", "ASSISTANT:<think>")
    with pytest.raises(
        ModelUnavailable, match="does not write an answer after what it is asked by"
    ):
        tokens("bytes", thinking)

"""Batches of questions with what is to be answered: the tokens that a judge is asked by, and then
those of the answer and of its end, on which alone the loss is."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from resources.models.backends.chat_models import ChatMessage, ChatModel
from resources.models.backends.plain_prompts import get_answer_type
from resources.training.training_errors import import_library
from resources.training.training_rows import Row

IGNORED_LABEL = -100
"""The label of what is no answer, as trainers have it."""
_KNOWN = 1024
"""Answers whose tokens are kept: most are yes or no."""
_BY_TOKEN = ("token_type_ids", "mm_token_type_ids", "cross_attention_mask")
"""Further fields that some processors give for each token."""


class AnswerCollator:
    """Makes a batch of rows as TRL takes them, with `prompt`, `completion` and `image`.

    TRL's own leaves out the token that begins a text where the chat template does not write it, as
    that of LLaVA-1.5, and the one that ends an answer likewise: judges are asked with the first,
    and without the second a model is taught to go on.
    """

    def __init__(self, speaking: ChatModel) -> None:
        self._speaking = speaking
        self._answer = lru_cache(_KNOWN)(speaking.tokenize_answer)

    def __call__(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The batch: each row's tokens, padded on the right, with its picture and labels."""
        torch = import_library("torch")
        batch = self._speaking.tokenize_conversations([_conversation(row) for row in rows])
        mask = batch.pop("attention_mask").bool()
        answers = [torch.tensor(self._answer(_read_text(row["completion"]))) for row in rows]
        questions = _strip_padding(batch.pop("input_ids"), mask)
        columns = {
            "input_ids": (questions, answers, self._speaking.tokenizer.pad_token_id),
            "attention_mask": (_repeat(questions, 1), _repeat(answers, 1), 0),
            "labels": (_repeat(questions, IGNORED_LABEL), answers, IGNORED_LABEL),
        }
        for name in _BY_TOKEN:
            if name in batch:
                question_cells = _strip_padding(batch.pop(name), mask)
                answer_cells = self._continue(name, question_cells, answers)
                columns[name] = (question_cells, answer_cells, 0)
        return {**batch, **{name: _join(*parts) for name, parts in columns.items()}}

    def _continue(self, name: str, questions: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
        """The cells of answers in a field by token, as generation continues those of questions."""
        if name == "cross_attention_mask":
            # The end of a question sees all its pictures, and so does what follows.
            return [
                cells[-1:].expand(len(answer), *cells.shape[1:])
                for cells, answer in zip(questions, answers, strict=True)
            ]
        return _repeat(answers, get_answer_type(self._speaking.network.config.model_type, name))


def _conversation(row: Row) -> list[ChatMessage]:
    shown = {"type": "image", "image": row["image"]}
    return [
        {"role": "user", "content": [shown, {"type": "text", "text": _read_text(row["prompt"])}]}
    ]


def _read_text(turns: Sequence[Mapping[str, str]]) -> str:
    """The words of the one turn that a prompt or a completion has."""
    (turn,) = turns
    return turn["content"]


def _strip_padding(tokens: Any, mask: Any) -> list[Any]:
    """The tokens of each row, without what pads it."""
    return [row[row_mask] for row, row_mask in zip(tokens, mask, strict=True)]


def _repeat(rows: Sequence[Any], value: int) -> list[Any]:
    return [row.new_full(row.shape, value) for row in rows]


def _join(questions: Sequence[Any], answers: Sequence[Any], padding: int) -> Any:
    """Join both parts of each row, and the rows as one tensor."""
    torch = import_library("torch")
    sequences = [torch.cat(parts) for parts in zip(questions, answers, strict=True)]
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=padding)

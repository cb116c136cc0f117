"""A vision-language model that is asked for a digit: how well a picture fits a text.

The score is what is expected of the digit, not only the one that is said, so that pictures are told
apart that get the same digit. It is the formula that adapters for scores are trained with.
"""

import math
import re
from functools import cached_property
from typing import Any

from resources.models.backends.scoring.base import require_finite
from resources.models.backends.scoring.prompted_formula import PromptedFormula
from resources.models.replies import ModelReply, Usage

PROMPT = """How well does the picture fit the text? Only what the text says counts: the main \
thing, what is beside it, and their number, colour, size and place. What is usual or typical \
counts for nothing.

Text: {text}

Answer with one digit, from 0 (it does not fit) to 9 (it fits in every detail), and nothing \
else."""
MAX_DIGIT = 9
MAX_ANSWER_TOKENS = 4
"""Tokens: the digit, and what a tokenizer may have before and after it."""


class ExpectedScore(PromptedFormula):
    """The digit that is expected of a model, 0 to 9, by 9.

    It is the mean of all digits by their probability among digits, at the place where the greedy
    answer has its own; that one is the reply's text. A reply has no score where the answer is no
    digit alone.
    """

    prompt, max_answer_tokens = PROMPT, MAX_ANSWER_TOKENS

    def read_scores(self, output: tuple[Any, Any]) -> list[ModelReply]:
        """The digits that are said of pictures, each with its text, and those expected."""
        speaking, (inputs, generated) = self._speaking, output
        before = inputs["input_ids"].shape[1]
        replies = []
        for row, mask in enumerate(inputs["attention_mask"]):
            tokens = generated.sequences[row, before:].tolist()
            text = speaking.processor.decode(tokens, skip_special_tokens=True).strip()
            places = [index for index, token in enumerate(tokens) if token in self._digits]
            score, mass = None, None
            if parse_digit(text) is not None and places:
                score, mass = self._compute_expected(generated.logits[places[0]][row])
            usage = Usage(int(mask.sum()), len(tokens))
            how = self._describe_settings(len(generated.sequences), digits=mass)
            replies.append(
                ModelReply(
                    text=text,
                    score=score,
                    served_model=speaking.served_model,
                    usage=usage,
                    provenance=how,
                )
            )
        return replies

    def _compute_expected(self, logits: Any) -> tuple[float, float]:
        """The expected digit by 9, and how probable it was that a digit is said."""
        among = logits.float().softmax(-1)[list(self._digits)]
        digits = among.new_tensor(list(self._digits.values()))
        mass = float(among.sum())
        expected = float((among * digits).sum())
        (score,) = require_finite(self._model, [expected / mass / MAX_DIGIT if mass else math.nan])
        return score, mass

    @cached_property
    def _digits(self) -> dict[int, int]:
        return find_digit_tokens(self._speaking.tokenizer)


def find_digit_tokens(tokenizer: Any) -> dict[int, int]:
    """Map each token that stands for a digit to it, with or without a space before."""
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    candidates = [token for token, name in enumerate(names) if name and name[-1:] in "0123456789"]
    token_digits = ((token, parse_digit(tokenizer.decode([token]))) for token in candidates)
    return {token: digit for token, digit in token_digits if digit is not None}


def parse_digit(text: str) -> int | None:
    """The digit that an answer is; None for any other."""
    stripped = text.strip()
    return int(stripped) if re.fullmatch("[0-9]", stripped) else None

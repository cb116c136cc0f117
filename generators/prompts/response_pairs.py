"""The prompts that ask judges which of two responses to a question is better.

One is about a picture alone, the other about questions and responses that have pictures; the files'
names end with their versions.
"""

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

VERSION = "1"
PICTURES_VERSION = "pictures-1"
PICTURE_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in a text for each of its pictures."""


def _load(version: str) -> str:
    return Path(__file__).with_name(f"response_pairs-{version}.txt").read_text("utf-8").strip()


def write_response_pair_prompt(question: str, responses: Sequence[str]) -> str:
    """The prompt about two responses, in the order in which they are shown."""
    return _fill(VERSION, question, responses)


def write_picture_pair_prompt(question: str, responses: Sequence[str]) -> str:
    """The prompt about texts with marks: pictures are numbered as they are sent, in this order."""
    numbers = count(1)

    def number(text: str) -> str:
        return re.sub(PICTURE_MARK, lambda mark: f"[picture {next(numbers)}]", text)

    question, *responses = map(number, (question, *responses))
    return _fill(PICTURES_VERSION, question, responses)


def _fill(version: str, question: str, responses: Sequence[str]) -> str:
    first, second = responses
    texts = {"question": question, "first": first, "second": second}
    return re.sub(r"\{(question|first|second)\}", lambda field: texts[field[1]], _load(version))

"""Negations of yes/no questions: the paper's prompt, a writer by rule, and a check of either.

The prompt is VHExpansion's Figure 3 letter for letter, with the question in the place of [x_Q]; its
file's name ends with its version.
"""

from pathlib import Path

from generators.prompts.negation.check import RULES, NegationReading, check_negation, read_negation
from generators.prompts.negation.negation_grammar import Negation, NegationWay, negate, quote
from generators.prompts.negation.questions import NotNegatable

__all__ = [
    "RULES",
    "VERSION",
    "Negation",
    "NegationReading",
    "NegationWay",
    "NotNegatable",
    "check_negation",
    "negate",
    "quote",
    "read_negation",
    "write_negation_prompt",
]

VERSION = "1"
_TEXT = Path(__file__).with_name(f"negation-{VERSION}.txt").read_text("utf-8")


def write_negation_prompt(question: str) -> str:
    """The prompt that asks a writer to negate a question."""
    return _TEXT.strip().replace("{question}", question)

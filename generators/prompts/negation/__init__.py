"""Negations of yes/no questions: the paper's prompt, a writer by rule, and a check of either.

The prompt is VHExpansion's Figure 3 letter for letter, with the question in the place of [x_Q]; its
file's name ends with its version.
"""

from pathlib import Path

from generators.prompts.negation.check import RULES, Reading, check, read
from generators.prompts.negation.grammar import Negation, Way, negate, quote
from generators.prompts.negation.questions import NotUnderstood

__all__ = [
    "RULES",
    "VERSION",
    "Negation",
    "NotUnderstood",
    "Reading",
    "Way",
    "check",
    "negate",
    "negation_prompt",
    "quote",
    "read",
]

VERSION = "1"
_TEXT = Path(__file__).with_name(f"negation-{VERSION}.txt").read_text("utf-8")


def negation_prompt(question: str) -> str:
    """What a writer is asked for, to negate a question."""
    return _TEXT.strip().replace("{question}", question)

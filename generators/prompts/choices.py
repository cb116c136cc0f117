"""The prompt that asks judges to choose among lettered options about a picture."""

from collections.abc import Mapping

VERSION = "1"


def write_choice_prompt(question: str, options: Mapping[str, str]) -> str:
    """The question, its options by letter, and the form of the answer.

    >>> print(write_choice_prompt("What is it?", {"A": "a dog", "B": "a cat"}))
    What is it?
    A. a dog
    B. a cat
    Answer with the letter in curly brackets, e.g., {A} or {B}.
    """
    lines = [question, *(f"{letter}. {text}" for letter, text in options.items())]
    letters = " or ".join(f"{{{letter}}}" for letter in [*options][:2])
    return "\n".join([*lines, f"Answer with the letter in curly brackets, e.g., {letters}."])

"""The prompt that asks judges a yes/no question about a picture in VHExpansion.

The paper gives none. This one is VLMBias's for its yes/no questions, word for word, so that what a
judge has answered there is not asked again; the file's name ends with its version.
"""

from pathlib import Path

VERSION = "1"
_TEXT = Path(__file__).with_name(f"yes_no-{VERSION}.txt").read_text("utf-8")


def write_yes_no_prompt(question: str) -> str:
    """The prompt that a judge gets beside the picture.

    >>> write_yes_no_prompt("Is there a dog?")
    'Is there a dog? Answer in curly brackets, e.g., {Yes} or {No}.'
    """
    return _TEXT.replace("{question}", question).strip()

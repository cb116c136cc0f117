"""The prompt that asks judges to compare two pictures of one instruction in FRAME.

The paper's template is a picture (its Figure 8); this one is ours, and the file's name ends with
its version.
"""

from pathlib import Path

VERSION = "1"
_TEXT = Path(__file__).with_name(f"pairwise-{VERSION}.txt").read_text("utf-8")


def write_pairwise_prompt(instruction: str) -> str:
    """The prompt that asks a judge about two pictures, by the instruction of both."""
    return _TEXT.replace("{instruction}", instruction).strip()

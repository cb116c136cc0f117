"""The prompt that asks judges for a score of one response; the file's name has its version."""

import re
from pathlib import Path

VERSION = "1"
_TEXT = Path(__file__).with_name(f"response_scores-{VERSION}.txt").read_text("utf-8").strip()


def write_response_score_prompt(instruction: str, response: str) -> str:
    """The prompt about a response to an instruction, which may be empty."""
    texts = {"instruction": instruction, "response": response}
    return re.sub(r"\{(instruction|response)\}", lambda field: texts[field[1]], _TEXT)

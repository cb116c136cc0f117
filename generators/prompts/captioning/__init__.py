"""Prompts that ask models for a caption of an image, and judges how good one is, 0 to 100.

The paper's are not to be had; these are ours, one file each, whose name ends with its version.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SCALE = (0, 100)
REFERENCE_FREE, REFERENCE_BASED = "reference_free", "reference_based"
SETTINGS = (REFERENCE_FREE, REFERENCE_BASED)


class CaptionTemplate(NamedTuple):
    """A prompt with its version."""

    text: str
    version: str


def _found() -> Mapping[str, CaptionTemplate]:
    files = sorted(Path(__file__).parent.glob("*.txt"))
    parts = [(*file.stem.rsplit("-", 1), file.read_text("utf-8")) for file in files]
    return {name: CaptionTemplate(text, version) for name, version, text in parts}


TEMPLATES: Mapping[str, CaptionTemplate] = _found()
"""By name: caption, reference_free and reference_based."""
CAPTION = TEMPLATES["caption"]
_FIELD = re.compile(r"\{(caption|references)\}")


def write_caption_prompt() -> str:
    """What a model is asked for a caption with."""
    return CAPTION.text.strip()


def write_score_prompt(caption: str, references: Sequence[str] = ()) -> str:
    """What a judge is asked about a caption, with captions that are known to be right if any."""
    field_values = {
        "caption": caption,
        "references": "\n".join(f"- {reference}" for reference in references),
    }
    text = TEMPLATES[REFERENCE_BASED if references else REFERENCE_FREE].text
    # In one pass: a caption may hold the words of a field.
    return _FIELD.sub(lambda field: field_values[field[1]], text).strip()

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


def _load_templates() -> Mapping[str, CaptionTemplate]:
    files = sorted(Path(__file__).parent.glob("*.txt"))
    parts = [(*file.stem.rsplit("-", 1), file.read_text("utf-8")) for file in files]
    return {name: CaptionTemplate(text=text, version=version) for name, version, text in parts}


TEMPLATES: Mapping[str, CaptionTemplate] = _load_templates()
"""The templates by name: caption, reference_free and reference_based."""
CAPTION = TEMPLATES["caption"]
_FIELD = re.compile(r"\{(caption|references)\}")


def write_caption_prompt() -> str:
    """The prompt that asks a model for a caption."""
    return CAPTION.text.strip()


def write_score_prompt(caption: str, references: Sequence[str] = ()) -> str:
    """The prompt that asks a judge to score a caption, beside reference captions if any."""
    field_values = {
        "caption": caption,
        "references": "\n".join(f"- {reference}" for reference in references),
    }
    text = TEMPLATES[REFERENCE_BASED if references else REFERENCE_FREE].text
    # One pass: a caption may hold the words of a field.
    return _FIELD.sub(lambda field: field_values[field[1]], text).strip()

"""Prompts that ask judges to score one picture in FRAME, 0 to 5.

The paper's templates are pictures (its Figures 4 to 7); these are ours, one file each, whose name
ends with its version. The sentence of `bias_aware` is the paper's (its footnote 3).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SCALE = (0, 5)
STANDARD = "standard"

DEFINITIONS: Mapping[str, str] = {
    "boxes": "visible boxes drawn around key objects to emphasize their presence or location",
    "authenticity": 'the phrase "Reference Image" written on the image to imply authenticity',
    "keyword": "a single keyword from the instruction written on the image",
    "instruction": "the entire instruction written on the image",
    "beauty": "a filter that makes facial features more conventionally attractive",
    "brightness": "an increased overall brightness",
    "gamma": "a changed gamma value, for another contrast and other mid-tones",
    "padding": "black borders around the image, which change its framing",
}
"""The biases as Table 1 defines them, in its order."""


class JudgingTemplate(NamedTuple):
    """A template with its version."""

    text: str
    version: str


def _load_templates() -> Mapping[str, JudgingTemplate]:
    files = sorted(Path(__file__).parent.glob("*.txt"))
    parts = [(*file.stem.rsplit("-", 1), file.read_text("utf-8")) for file in files]
    return {name: JudgingTemplate(text=text, version=version) for name, version, text in parts}


TEMPLATES: Mapping[str, JudgingTemplate] = _load_templates()
"""The templates by name: standard, bias_aware, bias_definition and chain_of_thought."""


def write_judging_prompt(template: str, instruction: str) -> str:
    """The prompt that asks a judge about a picture, by the instruction that it was painted for."""
    defined = "\n".join(f"- {definition}" for definition in DEFINITIONS.values())
    text = TEMPLATES[template].text.replace("{definitions}", defined)
    return text.replace("{instruction}", instruction).strip()

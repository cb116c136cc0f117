"""What the project knows of models by their ids: roles, prices and parameters.

Prices are those of the examples in models.yaml, in US dollars, of November 2026; the provider's
own pages are right today.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from resources.models.backend_names import Role
from resources.models.entry import Price
from resources.models.model_lists import PAINTER_ROLES, READER_ROLES


class KnownModel(NamedTuple):
    """The price of a model, and the parameters of its example in models.yaml."""

    price: Price
    parameters: Mapping[str, Any]
    longest_output: int | None = None


def _by_tokens(dollars_in: float, dollars_out: float, batch_share: float | None = 0.5) -> Price:
    return Price(
        input_per_million=dollars_in, output_per_million=dollars_out, batch_share=batch_share
    )


KNOWN_MODELS: Mapping[str, Mapping[str, KnownModel]] = {
    "openai": {
        "gpt-6-luna": KnownModel(
            _by_tokens(0.1, 0.5), {"reasoning_effort": "medium", "max_completion_tokens": 16000}
        ),
        "gpt-5": KnownModel(
            _by_tokens(1.25, 10.0), {"reasoning_effort": "medium", "max_completion_tokens": 16000}
        ),
        "gpt-4.1": KnownModel(_by_tokens(2.0, 8.0), {"temperature": 1.0}, 32768),
        "gpt-4o": KnownModel(_by_tokens(2.5, 10.0), {"temperature": 1.0, "max_tokens": 1024}),
        "o3": KnownModel(_by_tokens(2.0, 8.0), {"temperature": 1.0}, 100_000),
        "gpt-image-2.6-sunburst": KnownModel(
            _by_tokens(8.0, 30.0), {"size": "1024x1024", "quality": "high"}, 8000
        ),
    },
    "gemini": {
        "gemini-3.8-flash": KnownModel(
            _by_tokens(0.75, 3.75), {"temperature": 1.0, "max_output_tokens": 16000}
        ),
        "gemini-3.1-flash-image": KnownModel(
            Price(input_per_million=0.5, per_image={"1K": 0.067}, batch_share=0.5),
            {"image_config": {"aspect_ratio": "1:1", "image_size": "1K"}},
        ),
    },
    "anthropic": {
        "claude-sonnet-5-5": KnownModel(_by_tokens(2.0, 10.0, None), {"max_tokens": 32000}),
    },
}
"""Models by backend and the provider's id."""

_NO_ROLE = (
    r"embed|rerank|whisper|tts|audio|realtime|transcribe|moderation|guard|sora|veo|imagen|live"
    r"|davinci|babbage|codex|deep-research|search|computer-use|robotics|aqa|-pro(-\d{4}.*)?$"
)
"""Ids of models that have no role here, or none through the API that its backend uses."""
_ROLES_BY_ID: Mapping[str, tuple[tuple[str, tuple[Role, ...]], ...]] = {
    "openai": (
        (r"gpt-image|chatgpt-image|dall-e", PAINTER_ROLES),
        (_NO_ROLE, ()),
        (r"gpt-3\.5|gpt-4$|gpt-4-\d|gpt-4-turbo-preview|o1-(mini|preview)|o3-mini", ("writer",)),
        (r"gpt-[4-9]|chatgpt-4o|o[134](-|$)", READER_ROLES),
    ),
    "gemini": (
        (r"gemini.*image", PAINTER_ROLES),
        (_NO_ROLE.replace(r"|-pro(-\d{4}.*)?$", ""), ()),
        (r"gemini-\d", READER_ROLES),
    ),
    "anthropic": ((r"claude", READER_ROLES),),
    "openai_compatible": (
        (_NO_ROLE.replace(r"|-pro(-\d{4}.*)?$", ""), ()),
        (
            r"(?<![a-z])vl(?![a-z])|\dvl|[a-z]vl2?(?![a-z])|vision|llava|pixtral|minicpm-?v|molmo"
            r"|idefics|multimodal",
            READER_ROLES,
        ),
    ),
}
"""Roles by patterns of ids, by backend; the first that is found counts."""


def find_roles(backend: str, model: str) -> tuple[Role, ...] | None:
    """The roles that a model's id tells of; () for none here, None where the id says nothing."""
    return next(
        (roles for pattern, roles in _ROLES_BY_ID[backend] if re.search(pattern, model.lower())),
        None,
    )


def find_family(model: str) -> str:
    """The family that a model's id begins with: "gpt", "qwen", "claude"."""
    name = model.rpartition("/")[2].lower()
    if re.match(r"o\d|chatgpt", name):
        return "gpt"
    letters = re.match(r"[a-z]+", name)
    return letters[0] if letters else "other"

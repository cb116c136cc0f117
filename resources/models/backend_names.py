"""Backends of models.yaml: their names, and the roles and keys of their models."""

from collections.abc import Mapping
from typing import Literal

Role = Literal[
    "writer",
    "painter",
    "editor",
    "judge",
    "captioner",
    "moderator",
    "detector",
    "encoder",
    "metric",
]
BackendName = Literal[
    "openai",
    "openai_compatible",
    "gemini",
    "anthropic",
    "diffusers",
    "transformers",
    "stand_in",
    "python",
    "file",
    "folder",
    "imported",
]

_READS: tuple[Role, ...] = ("writer", "judge", "captioner", "moderator")
_DRAWS: tuple[Role, ...] = ("painter", "editor")
ROLES_BY_BACKEND: Mapping[str, tuple[Role, ...]] = {
    "openai": (*_READS, *_DRAWS),
    "gemini": (*_READS, *_DRAWS),
    "openai_compatible": _READS,
    "anthropic": _READS,
    "diffusers": _DRAWS,
    "transformers": (*_READS, "detector", "encoder", "metric"),
    "python": ("metric",),
    "file": ("metric",),
    "folder": ("painter",),
    "imported": ("judge",),
}
"""The roles that each backend can have; what `stand_in` can do depends on its model."""
STAND_INS: Mapping[str, tuple[Role, ...]] = {
    "grammar": ("writer",),
    "sketch": _DRAWS,
    "prior": ("judge",),
    "pixels": ("judge",),
    "random": ("judge",),
    "gullible": ("judge",),
    "pensive": ("judge",),
    **dict.fromkeys(("vain", "strict", "generous", "steep", "plain"), ("captioner", "judge")),
}
"""The models of the backend `stand_in`, with the roles that each can have."""

KEY_VARIABLES: Mapping[str, str] = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""The environment variable that holds a backend's key where an entry names no other."""

LOCAL_BACKENDS = ("diffusers", "transformers", "python")
DEVICE_BACKENDS = ("diffusers", "transformers")
"""The backends whose models run on a device of this machine, in torch's words."""

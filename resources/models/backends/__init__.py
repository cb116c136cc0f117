"""Backends by name; each is imported when a model that needs it is first asked."""

from importlib import import_module
from typing import Any

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.untrusted_input.json_text import register_secret

_BACKENDS = {
    "openai": "openai_batches.BatchedOpenAI",
    "openai_compatible": "openai.OpenAI",
    "gemini": "gemini_batches.BatchedGemini",
    "anthropic": "anthropic.Anthropic",
    "diffusers": "diffusers.Diffusers",
    "transformers": "transformers.Transformers",
    "stand_in": "stand_ins.StandInBackend",
    "python": "python.Python",
    "folder": "folder.Folder",
    "imported": "imported.Imported",
}
_DEVICES = "devices.Devices"
"""Runs another backend once on each of several devices."""
_SERVERS = "servers.Servers"
"""Asks each of several servers by another backend."""


def list_modules(model: Model) -> list[str]:
    """List the modules of this package that requests to an entry of models.yaml go through."""
    places = [_BACKENDS[model.backend]] if model.backend in _BACKENDS else []
    places += [_DEVICES] if model.devices else []
    places += [_SERVERS] if len(model.base_urls) > 1 else []
    return [place.partition(".")[0] for place in places]


def build_backend(model: Model, key: str | None, picture: PictureLoader) -> Any:
    """The backend of an entry of models.yaml; its key is struck out of all that comes back."""
    register_secret(key or "")
    class_path = _DEVICES if model.devices else _BACKENDS[model.backend]
    class_path = _SERVERS if len(model.base_urls) > 1 else class_path
    module, name = class_path.split(".")
    return getattr(import_module(f"{__name__}.{module}"), name)(model, key, picture)

"""Requests to models, of five kinds.

A request holds words and pictures and nothing else, so that no ground truth, expected bias, image
id or file name can reach a model. A picture is named by the sha256 of its bytes, which a backend
takes from the image store when it sends them: requests stay small however large the pictures.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from resources.calls.call import to_canonical_text
from resources.calls.sql_tables import cut_request_head
from resources.models.backend_names import DEVICE_BACKENDS
from resources.models.catalog import Model
from resources.models.manifests import identify_picture_file


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation, with the pictures that precede its text."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Write text; to the JSON Schema `schema`, itself given as JSON, where there is one."""

    turns: tuple[Turn, ...]
    schema: str | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Look at the pictures of a conversation and answer in text."""

    turns: tuple[Turn, ...]
    sample: int = 0


@dataclass(frozen=True, slots=True)
class PaintRequest:
    """Make a picture from a prompt; `seed` is for painters that take one."""

    prompt: str
    seed: int | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Change a picture, or join several, as a prompt says."""

    prompt: str
    images: tuple[str, ...]
    seed: int | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """Say in one number how well a picture fits a text."""

    text: str
    image: str
    sample: int = 0


Request: TypeAlias = WriteRequest | LookRequest | PaintRequest | EditRequest | ScoreRequest

_KINDS: Mapping[str, type[Any]] = {
    "write": WriteRequest,
    "look": LookRequest,
    "paint": PaintRequest,
    "edit": EditRequest,
    "score": ScoreRequest,
}
_NAMES = {request_type: kind for kind, request_type in _KINDS.items()}


def get_request_kind(request: Request) -> str:
    """Name the backend's method for a request: write, look, paint, edit or score."""
    return _NAMES[type(request)]


def build_canonical_request(model: Model, request: Request) -> dict[str, Any]:
    """Everything that an answer depends on, as JSON values; neither key, pace nor price is."""
    return _add_file_identity(
        model,
        build_canonical_fields(model, get_request_kind(request), _to_fields(request)),
        request,
    )


def build_canonical_fields(model: Model, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical request of a kind to a model, by the fields of the request."""
    deciding = model.parameters
    if model.backend in DEVICE_BACKENDS:
        # A local model may run on any device.
        deciding = {name: value for name, value in deciding.items() if name != "device"}
    return {
        "backend": model.backend,
        "model": model.model,
        "parameters": _normalize_numbers(deciding),
        "kind": kind,
        "request": request,
    }


def build_canonical_head(model: Model, kind: str) -> str:
    """Build the head of a kind's canonical requests, as the call store indexes them."""
    return cut_request_head(to_canonical_text(build_canonical_fields(model, kind, {})))


def _to_fields(words: Request | Turn) -> dict[str, Any]:
    """Build the mapping of `dataclasses.asdict`, in a third of the time."""
    fields = {name: getattr(words, name) for name in words.__slots__}
    if "turns" in fields:
        fields["turns"] = tuple(_to_fields(turn) for turn in fields["turns"])
    return fields


def _normalize_numbers(value: Any) -> Any:
    """JSON in which a whole number is written in one way: 1 for 1.0."""
    if isinstance(value, Mapping):
        return {name: _normalize_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_normalize_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def compute_call_key(canonical_request: Mapping[str, Any]) -> str:
    """The sha256 of a canonical request: what two requests share if one answer serves both."""
    return sha256(to_canonical_text(canonical_request).encode()).hexdigest()


def compute_call_keys(model: Model, requests: Iterable[Request]) -> list[str]:
    """Compute the keys of requests to a model, in their order."""
    shared = build_canonical_fields(model, "", {})
    return [
        compute_call_key(
            _add_file_identity(
                model, {**shared, "kind": get_request_kind(request), "request": fields}, request
            )
        )
        for request, fields in ((request, _to_fields(request)) for request in requests)
    ]


def is_painted(model: Model, request: Request) -> bool:
    """Return whether a folder of pictures has the one that a request asks for."""
    return isinstance(request, PaintRequest) and bool(
        identify_picture_file(model, request.prompt, request.seed, request.sample)
    )


def _add_file_identity(
    model: Model, canonical_request: dict[str, Any], request: Request
) -> dict[str, Any]:
    """The request with what identifies an answer of the backend `folder`: the picture's file."""
    if model.backend != "folder" or not isinstance(request, PaintRequest):
        return canonical_request
    file = identify_picture_file(model, request.prompt, request.seed, request.sample)
    return {**canonical_request, "parameters": canonical_request["parameters"] | file}


def parse_canonical_request(canonical_request: Mapping[str, Any]) -> Request:
    """The request in a canonical one, which may have been JSON meanwhile."""
    kind, fields = _KINDS[canonical_request["kind"]], dict(canonical_request["request"])
    if "turns" in fields:
        turns = ({**turn, "images": tuple(turn["images"])} for turn in fields["turns"])
        fields["turns"] = tuple(Turn(**turn) for turn in turns)
    if "images" in fields:
        fields["images"] = tuple(fields["images"])
    request: Request = kind(**fields)
    return request

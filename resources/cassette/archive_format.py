"""The format of a cassette: a zip of these parts, in this order, with a line per call.

`calls.jsonl` holds a call per line in order of key, deflated; `images/<sha256>.png` each picture
that an answer of theirs holds, in order of name and as it is; `reviews/<topic>.csv` people's
decisions about photographs; `manifest.json` the version, counts and the sha256 of the other parts,
but for pictures, whose name it is. Dates are fixed: the same calls give the same bytes.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from resources.calls import Call
from resources.calls.call import to_call_row
from resources.faults import StoreError
from resources.models.answer_forms import (
    AnswerForm,
    Digest,
    StrictForm,
    Words,
    format_first_error,
    require_answer_kind,
)
from resources.models.requests import compute_call_key
from resources.untrusted_input.json_text import check_json_size, clean_json, replace_surrogates

VERSION = 1
CALLS, MANIFEST = "calls.jsonl", "manifest.json"
PICTURE = re.compile(r"images/([0-9a-f]{64})\.png")
REVIEW = re.compile(r"reviews/((?:\w{1,64}/){0,3}\w[\w -]{0,63})\.csv")
"""A topic's, or an annotator's in folders of its own."""
MAX_LINE_BYTES = 16_000_000
MAX_PICTURE_BYTES = 160_000_000
"""Bytes: more than the PNG of any picture that is taken."""
MAX_REVIEW_BYTES = 64_000_000
MAX_CALLS_BYTES = 1_000_000_000_000
MAX_MANIFEST_BYTES = 1_000_000
MAX_DIRECTORY_BYTES = 64_000_000
"""Bytes of the zip's list of parts: half a million pictures."""
MAX_COMPRESSION_RATIO = 200
"""Largest ratio of unpacked to packed calls; deflate cannot pack lines with different keys more
tightly, only content repeated a thousand times."""


class BadCassette(StoreError):
    """A file is no cassette that can be taken; names the file, the part and the remedy."""


class ArchivePart(BaseModel):
    """The sha256 of a part and its length in bytes, unpacked."""

    model_config = ConfigDict(extra="forbid", strict=True)
    sha256: str
    bytes: int


class CassetteManifest(BaseModel):
    """The manifest of a cassette: format, version and counts."""

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal["counterfactory cassette"]
    version: int
    calls: int
    pictures: int
    parts: dict[str, ArchivePart]


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(str(value))
    if moment.astimezone(UTC).isoformat(timespec="microseconds") != value:
        raise ValueError("a time of UTC to the microsecond is expected")
    return moment


Name = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[^\x00]+$")]
Count = Annotated[int, Field(ge=0, lt=2**31)]


class _Canonical(StrictForm):
    backend: Name
    model: Name
    kind: Literal["write", "look", "paint", "edit", "score"]
    parameters: dict[Words, Any]
    request: dict[Words, Any]


class _CallLine(StrictForm):
    key: Digest
    request: _Canonical
    answer: AnswerForm
    served_model: Name | None
    input_tokens: Count | None
    output_tokens: Count | None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    mode: Literal["online", "batch"]
    finished_at: Annotated[AwareDatetime, BeforeValidator(_moment)]


_LINE = TypeAdapter(_CallLine)
_IN_THE_REQUEST = ("backend", "model", "kind")


def encode_call(call: Call) -> bytes:
    """A call as a line of `calls.jsonl`, in ASCII; backend, model and kind stand in its request."""
    row = to_call_row(call) | {"request": call.request, "answer": call.answer}
    columns = {name: value for name, value in row.items() if name not in _IN_THE_REQUEST}
    return (
        json.dumps(columns, sort_keys=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    )


def decode_call(line: bytes) -> Call:
    """The call of a line, in whole characters; raises ValueError with the problem."""
    try:
        text = line.decode()
        check_json_size(text)
        fields = json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_finite)
        fields = clean_json(fields, replace_surrogates)
        checked = _LINE.validate_python(fields)
        require_answer_kind(checked.answer, checked.request.kind)
        key = compute_call_key(fields["request"])
    except ValidationError as error:
        raise ValueError(format_first_error(error)) from None
    except (RecursionError, OverflowError) as error:
        raise ValueError(f"it holds what no call does ({error})") from None
    if key != checked.key:
        raise ValueError(
            f"its request was changed: the key {checked.key} is not the sha256 of the request, "
            f"which is {key}"
        )
    return Call(
        key=key,
        backend=checked.request.backend,
        model=checked.request.model,
        kind=checked.request.kind,
        request=fields["request"],
        answer=fields["answer"],
        served_model=checked.served_model,
        input_tokens=checked.input_tokens,
        output_tokens=checked.output_tokens,
        seconds=checked.seconds,
        mode=checked.mode,
        finished_at=checked.finished_at,
    )


def list_picture_digests(call: Call) -> list[str]:
    """The sha256 of each picture that its answer holds."""
    answer: Mapping[str, Any] = call.answer
    return list(answer.get("images", []))


def format_picture_part(digest: str) -> str:
    """The name of a picture's part."""
    return f"images/{digest}.png"


def format_review_part(topic: str) -> str:
    """The name of a review's part."""
    return f"reviews/{topic}.csv"


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _parse_finite(digits: str) -> float:
    """A number that every store takes: one may be written that is read as infinite."""
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:20]} is larger than any number")
    return number

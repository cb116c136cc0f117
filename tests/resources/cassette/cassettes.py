"""Calls and pictures for tests of cassettes: real requests, and PNGs as they are stored."""

import io
import json
from datetime import UTC, datetime
from hashlib import sha256
from zipfile import ZipFile, ZipInfo

from PIL import Image

from resources.calls import Call
from resources.models.catalog import Model
from resources.models.requests import (
    LookRequest,
    PaintRequest,
    Turn,
    build_canonical_request,
    compute_call_key,
    get_request_kind,
)
from resources.storage.image_store import ImageStore

ODD = 'quoted "text", a null \x00, and flags 🇳🇵'
JUDGE = Model(name="j", backend="openai", model="vlm-1", family="some", roles=("judge",))
PAINTER = Model(name="p", backend="openai", model="paint-1", family="some", roles=("painter",))


def png_of(number, side=8):
    """A small picture of its own."""
    png = io.BytesIO()
    Image.new("RGB", (side, side), (number % 256, number // 256, 99)).save(png, "PNG")
    return png.getvalue()


def call(model, request, answer):
    canonical = build_canonical_request(model, request)
    return Call(
        key=compute_call_key(canonical),
        backend=model.backend,
        model=model.model,
        kind=get_request_kind(request),
        request=json.loads(json.dumps(canonical)),
        answer=answer,
        served_model="vlm-1-of-may",
        input_tokens=12,
        output_tokens=None,
        seconds=0.25,
        mode="online",
        finished_at=datetime(2026, 3, 2, 4, 5, 6, 789, tzinfo=UTC),
    )


def answered(text=None, images=()):
    return {"outcome": "answered", "text": text, "images": list(images), "score": None}


def looked(number, text="{8}", picture="0" * 64):
    request = LookRequest((Turn("user", f"{number}? ü 🇳🇵", (picture,)),))
    return call(JUDGE, request, answered(text))


def refused(number, reason=ODD):
    request = LookRequest((Turn("user", f"{number}, refused?"),))
    return call(JUDGE, request, {"outcome": "refused", "kind": "model", "reason": reason})


def painted(number, images: ImageStore, png=None):
    """A call that made a picture, which is in the store."""
    digest = images.put(png or png_of(number))
    return call(
        PAINTER, PaintRequest(f"A dog, number {number}", seed=number), answered(images=[digest])
    )


def parts_of(path):
    """The parts of a cassette, unpacked, by name."""
    with ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def rewritten(path, parts, listed=True):
    """Write parts as a cassette, whose manifest lists them as they are unless told otherwise."""
    manifest = json.loads(parts["manifest.json"])
    if listed:
        for name in manifest["parts"]:
            if name in parts:
                digest = sha256(parts[name]).hexdigest()
                manifest["parts"][name] = {"sha256": digest, "bytes": len(parts[name])}
        parts = parts | {"manifest.json": json.dumps(manifest).encode()}
    with ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(ZipInfo(name), data)


def edited(line, **changes):
    """A line of calls with other fields."""
    return json.dumps(json.loads(line) | changes).encode() + b"\n"

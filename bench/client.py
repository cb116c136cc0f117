"""Models, pictures, stored calls and a client with stores of its own, for what asks models."""

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from resources.calls import Call, CallStore
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import (
    Request,
    build_canonical_request,
    compute_call_key,
    get_request_kind,
)
from resources.storage.image_store import ImageStore


def model_named(name: str, backend: str, *roles: str, **more: Any) -> Model:
    """A model's entry."""
    entry = {"model": name, "family": "bench", "roles": roles, **more}
    return Model.model_validate({"name": name, "backend": backend, **entry})


def stored_call(model: Model, request: Request, text: str | None, *images: str) -> Call:
    """The call of an answered request, as the store keeps it."""
    canonical = build_canonical_request(model, request)
    return Call(
        key=compute_call_key(canonical),
        backend=model.backend,
        model=model.model,
        kind=get_request_kind(request),
        request=canonical,
        answer={"outcome": "answered", "text": text, "images": [*images], "score": None},
        served_model=model.model,
        input_tokens=900,
        output_tokens=60,
        seconds=1.5,
        mode="online",
        finished_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


def picture(side: int, number: int) -> bytes:
    """A square PNG that decodes and shrinks as photographs do; 1 MB at 660 px."""
    noise = np.random.default_rng(number).integers(0, 64, (side, side, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG", compress_level=1)
    return file.getvalue()


@contextmanager
def client_in(root: str) -> Iterator[ModelClient]:
    """A client whose stores lie in that folder."""
    with (
        closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls,
        closing(ModelClient(calls=calls, images=ImageStore(root=root))) as client,
    ):
        yield client


def ask_timed(client: ModelClient, model: Model, requests: Sequence[Request]) -> float:
    """Seconds until all requests are answered, which they have to be."""
    started = perf_counter()
    asked = client.ask(model, requests, logging.getLogger("bench"))
    seconds = perf_counter() - started
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes)
    return seconds

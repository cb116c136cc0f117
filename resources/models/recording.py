"""Recording replies: the stored call of a reply, to a request alone or in a batch."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from math import isfinite
from time import monotonic
from typing import Any

from resources.calls import Call
from resources.calls.spending import Mode
from resources.faults import StoreError
from resources.models.catalog import Model
from resources.models.replies import ModelReply
from resources.models.requests import Request, build_canonical_request, get_request_kind
from resources.storage.image_store import ImageStore
from resources.untrusted_input.image_decoding import BadImage, decode_image
from resources.untrusted_input.json_text import MAX_REASON_LENGTH, MAX_TEXT_LENGTH, clean_text

HOLD_S, HOLD_RETRY_S = 300.0, 0.5
"""Time for which unstorable paid pictures are held, and the interval between tries."""

MAX_NAME_LENGTH = 1000
"""Characters of a model's name, as cassettes take it."""


def record_answer(reply: ModelReply, images: ImageStore) -> dict[str, Any]:
    """The answer as a call holds it, its pictures stored before; malformed where it can be none."""
    if reply.refusal is not None:
        reason = clean_text(reply.refusal.reason)[:MAX_REASON_LENGTH]
        return {"outcome": "refused", "kind": reply.refusal.kind, "reason": reason}
    problem, pictures = reply.malformed_reason or _explain_too_long(reply.text), list[str]()
    if problem is None:
        try:
            pictures = [images.put(decode_image(picture)) for picture in reply.pictures]
        except BadImage as error:
            problem = str(error)
    if problem is not None:
        return {"outcome": "malformed", "reason": clean_text(problem)[:MAX_REASON_LENGTH]}
    return {
        "outcome": "answered",
        "text": None if reply.text is None else clean_text(reply.text),
        "images": pictures,
        "score": reply.score if reply.score is None or isfinite(reply.score) else None,
        **({} if reply.provenance is None else {"provenance": reply.provenance}),
    }


async def record_answer_with_retries(
    reply: ModelReply, images: ImageStore, stop: Callable[[StoreError], None]
) -> dict[str, Any]:
    """Record an answer beside the event loop; holds pictures until they are stored.

    `stop` hears of each attempt that failed, before the next.
    """
    until = monotonic() + HOLD_S
    while True:
        try:
            return await asyncio.to_thread(record_answer, reply, images)
        except StoreError as error:
            stop(error)
            if monotonic() >= until:
                raise
        await asyncio.sleep(HOLD_RETRY_S)


def build_call(
    model: Model,
    key: str,
    request: Request,
    reply: ModelReply,
    answer: Mapping[str, Any],
    seconds: float,
    mode: Mode,
    finished_at: datetime,
) -> Call:
    """The call that is stored for the request of a key, with the `answer` in its reply."""
    return Call(
        key=key,
        backend=model.backend,
        model=model.model,
        kind=get_request_kind(request),
        request=build_canonical_request(model, request),
        answer=answer,
        served_model=_clean_model_name(reply.served_model),
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        seconds=seconds,
        mode=mode,
        finished_at=finished_at,
    )


def _explain_too_long(text: str | None) -> str | None:
    """Say that text is longer than is taken."""
    if text is None or len(text) <= MAX_TEXT_LENGTH:
        return None
    return f"The reply has {len(text):,} characters; at most {MAX_TEXT_LENGTH:,} are taken."


def _clean_model_name(served_model: str | None) -> str | None:
    """A name that every store takes; a server may say none."""
    return clean_text(served_model)[:MAX_NAME_LENGTH] if served_model else None

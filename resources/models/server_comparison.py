"""Two entries of one model, such as a local and a served one: how far their answers agree.

Each is asked the same twice, request by request and all at once: an entry of which both replies
are equal byte for byte is batch-invariant, as far as these requests show.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from logging import Logger
from typing import Any, NamedTuple

from upath import UPath

from resources.calls.spending import Account
from resources.models.backend_names import LOCAL_BACKENDS
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.requests import LookRequest, ScoreRequest
from resources.storage.files import read_file, update_file

RECORD = "server_comparisons.json"
"""File in the data root: what comparisons came to, the latest last."""


class ModelReplies(NamedTuple):
    """The outcomes of a model's requests in their order: asked one by one, and all at once."""

    model: Model
    alone: Sequence[Outcome]
    together: Sequence[Outcome]

    def count_invariant(self) -> "Agreement":
        """Count the requests whose replies are equal alone and among others."""
        return count_equal(self.alone, self.together)


class Agreement(NamedTuple):
    """The pairs of replies that are equal, of those that both are there."""

    equal: int
    total: int


def ask_twice(
    client: ModelClient,
    model: Model,
    requests: Sequence[LookRequest | ScoreRequest],
    sample: int,
    log: Logger,
    account: Account,
) -> ModelReplies:
    """Ask a model one by one as `sample`, then all at once as the next sample.

    A sample is no part of what is sent; it tells these answers from those of other comparisons.
    Raises as `ModelClient.ask`.
    """
    crowd = model
    if model.backend not in LOCAL_BACKENDS:
        crowd = model.model_copy(update={"concurrency": max(model.concurrency, len(requests))})
    alone = [
        outcome
        for request in requests
        for outcome in client.ask(model, [replace(request, sample=sample)], log, account).outcomes
    ]
    others = [replace(request, sample=sample + 1) for request in requests]
    return ModelReplies(model, alone, client.ask(crowd, others, log, account).outcomes)


def count_equal(first: Sequence[Outcome], second: Sequence[Outcome]) -> Agreement:
    """Count the pairs of replies that are equal: their texts, and their scores."""
    pairs = [
        ((reply.text, reply.score), (other.text, other.score))
        for reply, other in zip(first, second, strict=True)
        if isinstance(reply, AnsweredOutcome) and isinstance(other, AnsweredOutcome)
    ]
    return Agreement(sum(reply == other for reply, other in pairs), len(pairs))


def find_largest_difference(first: Sequence[Outcome], second: Sequence[Outcome]) -> float | None:
    """The largest difference of two scores, or probabilities; None where either gives none."""
    differences = [
        abs(reply.score - other.score)
        for reply, other in zip(first, second, strict=True)
        if isinstance(reply, AnsweredOutcome)
        and isinstance(other, AnsweredOutcome)
        and reply.score is not None
        and other.score is not None
    ]
    return max(differences, default=None)


def record_comparison(
    root: UPath,
    replies: Sequence[ModelReplies],
    source: str,
    measured: Mapping[str, Any],
    compared_at: datetime,
) -> UPath:
    """Add a comparison to the record in the data root; returns the record's path."""
    comparison = {
        "at": compared_at.isoformat(timespec="seconds"),
        "questions": source,
        "models": [
            {
                **_identify(reply.model),
                "batch_invariant": reply.count_invariant()._asdict(),
            }
            for reply in replies
        ],
        **measured,
    }

    def add(content: bytes | None) -> bytes:
        comparisons = [*json.loads(content or b"[]"), comparison]
        return json.dumps(comparisons, indent=1, ensure_ascii=False).encode() + b"\n"

    update_file(root / RECORD, add)
    return root / RECORD


def describe_batch_invariance(root: UPath, model: Model) -> str | None:
    """Say what the latest comparison showed of an entry's batches; None where there is none."""
    try:
        comparisons = json.loads(read_file(root / RECORD))
    except FileNotFoundError:
        return None
    identity = _identify(model)
    for comparison in reversed(comparisons):
        for compared in comparison["models"]:
            if {name: compared[name] for name in identity} == identity:
                equal, total = (compared["batch_invariant"][name] for name in Agreement._fields)
                share = f"{equal:,} of {total:,} replies equal alone and all at once"
                return f"{share}, {comparison['at']}"
    return None


def _identify(model: Model) -> dict[str, Any]:
    """Identify the weights and the servers that a comparison is about, as JSON values."""
    return {
        "name": model.name,
        "backend": model.backend,
        "model": model.model,
        "parameters": model.parameters,
        "servers": list(model.base_urls),
    }

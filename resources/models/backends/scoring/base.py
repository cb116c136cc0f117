"""Shared parts of all formulas: their settings, their interface, a score's provenance."""

import math
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.provenance import describe_device
from resources.models.catalog import Model
from resources.models.formulas import Formula
from resources.models.replies import ModelReply, UnacceptableRequest
from resources.models.requests import ScoreRequest

_LIBRARIES = ("torch", "transformers", "tokenizers", "pillow")


class FormulaSettings(AdapterSettings):
    """Settings of an entry with the role `metric`.

    `prefix` is what precedes every text, `processor` the model whose processor is taken.
    """

    formula: Formula
    prefix: str | None = None
    processor: str | None = None


class ScoringFormula(Protocol):
    """A formula with its model."""

    def prepare(self, request: ScoreRequest) -> Any:
        """A request with its picture opened; for any thread, while the model works."""

    def collate(self, prepared_requests: Sequence[Any]) -> Any:
        """The network's inputs for requests that are worked on together."""

    def compute(self, inputs: Any) -> Any:
        """The network's raw output."""

    def read_scores(self, output: Any) -> list[ModelReply]:
        """The scores in an output, in the order of the requests."""


def build_score_provenance(model: Model, network: Any, batch: int, **more: Any) -> dict[str, Any]:
    """Describe what a score depends on beside weights, text and picture, as JSON values."""
    return {
        "formula": model.parameters["formula"],
        "device": describe_device(network.device),
        "dtype": str(network.dtype).removeprefix("torch."),
        "versions": {name: version(name) for name in _LIBRARIES},
        "batch": batch,
        **more,
    }


def require_finite(model: Model, scores: Sequence[float]) -> Sequence[float]:
    """Scores that are numbers; raises `UnacceptableRequest` where one is none."""
    if not all(map(math.isfinite, scores)):
        raise UnacceptableRequest(
            f"{model.name} came to no number: the arithmetic of its dtype overflowed. Set dtype: "
            "float32 among its parameters in models.yaml"
        )
    return scores

"""The base of a training: its weights, which have to be on this machine, and what they will take.

All of it is known before anything is loaded.
"""

import os
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from generators.name_suggestions import suggest_names
from resources.models.backends.adapters import find_base_weights
from resources.models.backends.local_models import resolve_commit
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable
from resources.models.weights import NoWeights, Weights
from resources.training.recipe import Recipe
from resources.training.training_errors import TrainingError, import_library

TOKENS_PER_SAMPLE = 1500
"""Tokens of a picture of 1,024 px and its question in Qwen2.5-VL; LLaVA-1.5 has 600."""
_BYTES_A_WEIGHT = 16
"""Bytes per adapter weight in training: itself, its gradient and two averages, in float32."""
_LONGEST_H, _MANY_H = 24.0, 10.0
_SIDE, _GIGA = 1024, 1e9
_MATRIX = 2
_NOT_ADAPTED = ("vis", "lm_head", "embed", "multi_modal_projector")


class TrainingEstimate(NamedTuple):
    """Memory in GB and hours here of a training, without the activations between layers."""

    parameter_count: int
    adapter_parameter_count: int
    gigabytes: float
    hours: float

    def __str__(self) -> str:
        """Format it for a log."""
        return (
            f"{self.parameter_count / _GIGA:.2f} billion weights, "
            f"{self.adapter_parameter_count / 1e6:.1f} million in "
            f"the adapter; {self.gigabytes:.1f} GB for these, and more for pictures"
        )

    @property
    def cpu_time(self) -> str:
        """Hours without a GPU, formatted for a log."""
        digits = 0 if self.hours >= _MANY_H else 1
        return f"its processors would take about {self.hours:,.{digits}f} hours"


def find_recipe_weights(recipe: Recipe) -> tuple[str | None, Weights]:
    """The commit of the base, None for a folder, and its weights, of which none is read.

    Raises `TrainingError` where they are not on this machine.
    """
    entry = Model(
        name="base", backend="transformers", model=recipe.base, family="base", roles=("judge",)
    )
    try:
        base_commit = resolve_commit(entry, None, recipe.revision)
        return base_commit, find_base_weights(recipe.base, base_commit)
    except NoWeights as error:
        revision_option = f" --revision {recipe.revision}" if recipe.revision else ""
        raise TrainingError(
            f"The weights of {recipe.base} are not on this machine: {error}. Download them: "
            f"hf download {recipe.base}{revision_option}; then materialize again. Nothing was "
            "begun."
        ) from error
    except ModelUnavailable as error:
        raise TrainingError(f"base: it cannot be loaded. {error}") from error


def estimate_training(weights: Weights, recipe: Recipe, samples: int) -> TrainingEstimate:
    """Estimate a training on so many samples, on the processors of this machine."""
    suffixes = tuple(f".{end}" for end in recipe.layer_names)
    shapes = [shape for name, shape in _layers(weights) if name.endswith(suffixes)]
    adapter = sum(recipe.rank * sum(shape) for shape in shapes)
    width = _width(recipe.dtype) or weights.size / weights.parameters
    gigabytes = (width * weights.parameters + _BYTES_A_WEIGHT * adapter) / _GIGA
    # A pass forward takes two operations a weight and token; to train one takes three or four more.
    operations = (
        2
        * weights.parameters
        * TOKENS_PER_SAMPLE
        * samples
        * (5 if recipe.gradient_checkpointing else 4)
    )
    return TrainingEstimate(
        parameter_count=weights.parameters,
        adapter_parameter_count=adapter,
        gigabytes=gigabytes,
        hours=operations / _operations_a_second() / 3600,
    )


def require_room(
    recipe: Recipe, estimate: TrainingEstimate, *, has_gpu: bool, memory: float
) -> None:
    """Raise `TrainingError` where there is no GPU and this machine is not up to it.

    `memory` is what the machine has, in GB.
    """
    fits = estimate.gigabytes < memory and estimate.hours < _LONGEST_H
    if has_gpu or fits or recipe.skip_estimate_check:
        return
    raise TrainingError(
        f"{recipe.base} cannot be trained here: torch finds no GPU. It has {estimate}; this "
        f"machine has {memory:.0f} GB, and {estimate.cpu_time}. Train "
        "where there is a GPU of 80 GB, or set `skip_estimate_check: true`. Nothing was loaded."
    )


def require_targets(weights: Weights, recipe: Recipe) -> None:
    """Raise `TrainingError` where a target is no layer: beside others it would be passed over.

    Of the default, which has the layers of all families, one has to be there.
    """
    layers = [name for name, _ in _layers(weights)]
    absent = [
        target
        for target in recipe.layer_names
        if not any(name.endswith(f".{target}") for name in layers)
    ]
    if absent == recipe.layer_names or (absent and not recipe.has_default_targets):
        layer_names = sorted({name.rpartition(".")[2] for name in layers})
        raise TrainingError(
            f"targets: the language model of {recipe.base} has no layer {absent[0]!r} that can be "
            f"adapted{suggest_names(absent[0], layer_names)}. Nothing was loaded."
        )


def _layers(weights: Weights) -> Iterator[tuple[str, Sequence[int]]]:
    """The language model's matrices with their shapes, without its head."""
    for name, shape in weights.iterate_shapes():
        parts = name.removesuffix(".weight").split(".")
        of_language = not any(part.startswith(_NOT_ADAPTED) for part in parts)
        if len(shape) == _MATRIX and of_language:
            yield ".".join(parts), shape


def inspect_machine() -> tuple[bool, float]:
    """Detect a GPU, and this machine's memory in GB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIGA
    return bool(import_library("torch").cuda.is_available()), memory


def _width(dtype: str | None) -> int | None:
    """Bytes of a number of that type."""
    return None if dtype is None else {"float32": 4, "float64": 8}.get(dtype, 2)


def _operations_a_second() -> float:
    """Measure this machine's processors, on matrices as large as a model's."""
    matrix: Any = np.ones((_SIDE, _SIDE), np.float32)
    times: Sequence[float] = [_seconds(matrix) for _ in range(3)]
    return 2 * _SIDE**3 / min(times)


def _seconds(matrix: Any) -> float:
    started = perf_counter()
    np.dot(matrix, matrix)
    return perf_counter() - started

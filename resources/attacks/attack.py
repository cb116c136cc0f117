"""Attacks on pictures: a batch at a time, each checked on the PNG that is saved."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from generators.opaque_rgb import to_opaque_rgb
from generators.tiles import encode_png
from resources.attacks.attack_parameters import AttackJob, AttackResult
from resources.attacks.encoders import load_encoder
from resources.attacks.gradient_search import (
    GradientSearch,
    Watch,
    compute_similarities,
    round_to_levels,
    run_searches,
    start_search,
)
from resources.attacks.noise import draw_comparison
from resources.attacks.preparation import Tensor, describe_disagreement
from resources.models.backends.local_models import import_library, translate_running_errors
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable


class EncoderAttack:
    """The encoder of an entry of models.yaml, loaded, and attacks on it; raises `ModelUnavailable`.

    What comes of a picture depends on its own work, and on the others of its batch by the rounding
    of floating-point numbers alone.
    """

    def __init__(self, model: Model, key: str | None) -> None:
        self._model = model
        self._encoder, self.served_model = load_encoder(model, key)

    @property
    def sees_question(self) -> bool:
        """True where the embedding depends on the question as well as on the picture."""
        return self._encoder.sees_question

    def attack(self, works: Sequence[AttackJob], watch: Watch) -> list[AttackResult]:
        """Attack pictures together; one that does no better than noise has no PNG, but a reason.

        The similarities are read off by the model's own processor, from the saved PNG.
        """
        with translate_running_errors(self._model):
            originals = [_levels(work.picture) for work in works]
            targets = self._targets(originals, works)
            searches = [
                start_search(work, self._pixels(levels), target)
                for work, levels, target in zip(works, originals, targets, strict=True)
            ]
            noisy = [
                _apply_change(levels, draw_comparison(work, levels.shape[:2]), work)
                for work, levels in zip(works, originals, strict=True)
            ]
            of_noise = self._similarities(noisy, works, targets)
            run_searches(self._encoder, searches, watch)
            pngs = [
                encode_png(Image.fromarray(_apply_change(levels, search.change, search.job)))
                for levels, search in zip(originals, searches, strict=True)
            ]
            saved = [_levels(png) for png in pngs]
            reached = self._similarities(saved, works, targets)
        return [
            _build_result(search, png, _measure_difference(original, levels), *numbers)
            for search, png, original, levels, *numbers in zip(
                searches, pngs, originals, saved, reached, of_noise, strict=True
            )
        ]

    def _pixels(self, levels: Any) -> Tensor:
        torch = import_library("torch")
        pixels = torch.from_numpy(levels).to(self._encoder.network.device)
        return pixels.permute(2, 0, 1).float() / 255

    def _targets(self, originals: Sequence[Any], works: Sequence[AttackJob]) -> list[Tensor]:
        """Compute clean embeddings; raises `ModelUnavailable` for an unknown preparation."""
        encoder, theirs = self._encoder, self._process(originals)
        with import_library("torch").no_grad():
            for levels, their_tensor in zip(originals, theirs, strict=True):
                ours = encoder.prepare(self._pixels(levels))
                if why := describe_disagreement(ours, their_tensor, encoder.image_processor):
                    raise ModelUnavailable(
                        f"{self._model.model}: its processor "
                        f"({type(encoder.image_processor).__name__}) "
                        f"prepares pictures in a way that no gradient follows here: {why}. Name "
                        "another model as encoder in models.yaml."
                    )
        return [
            their_tensor.float().flatten() for their_tensor in self._embed(theirs, originals, works)
        ]

    def _similarities(
        self, pictures: Sequence[Any], works: Sequence[AttackJob], targets: Sequence[Tensor]
    ) -> list[float]:
        """Compute each picture's similarity to its clean embedding, by the model's processor."""
        embedded = self._embed(self._process(pictures), pictures, works)
        values: list[float] = compute_similarities(embedded, targets).tolist()
        return values

    def _process(self, pictures: Sequence[Any]) -> list[Tensor]:
        device = self._encoder.network.device
        return [self._encoder.process(Image.fromarray(levels)).to(device) for levels in pictures]

    def _embed(
        self, processed: Sequence[Tensor], pictures: Sequence[Any], works: Sequence[AttackJob]
    ) -> list[Tensor]:
        with import_library("torch").no_grad():
            return self._encoder.embed(
                processed,
                [levels.shape[:2] for levels in pictures],
                [work.question for work in works],
            )


def _levels(png: bytes) -> Any:
    """A picture's levels of 255: height x width x 3."""
    with Image.open(io.BytesIO(png)) as image:
        return np.array(to_opaque_rgb(image))


def _apply_change(levels: Any, change: Tensor, work: AttackJob) -> Any:
    """The picture with a change, in whole levels."""
    added = round_to_levels(change, work).permute(1, 2, 0).cpu().numpy().astype(np.int16)
    return (levels + added).clip(0, 255).astype(np.uint8)


def _measure_difference(first: Any, second: Any) -> int:
    """The largest difference of two pictures, in levels of 255."""
    return int(np.abs(first.astype(np.int16) - second.astype(np.int16)).max())


def _build_result(
    search: GradientSearch, png: bytes, largest: int, reached: float, of_noise: float
) -> AttackResult:
    reason = search.failure_reason or _shortcoming(search.job, largest, reached, of_noise)
    return AttackResult(
        png=None if reason else png,
        similarity=reached,
        noise_similarity=of_noise,
        largest_change=largest,
        iterations=search.steps,
        reason=reason,
    )


def _shortcoming(work: AttackJob, largest: int, reached: float, of_noise: float) -> str | None:
    """Say why the reached similarity is no attack; None where it is one."""
    if largest > work.parameters.epsilon:
        return f"Its PNG differs by {largest} levels, above {work.parameters.epsilon:g}."
    if not largest:
        return "It ended at the picture itself, without any change."
    is_better = reached > of_noise if work.objective == "raise" else reached < of_noise
    if is_better:
        return None
    return (
        f"It reached a similarity of {reached:.4f}, and random noise of the same bound "
        f"{of_noise:.4f}: no better than noise."
    )

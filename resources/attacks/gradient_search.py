"""The search for a change: PGD and I-FGSM on several pictures at once (VHExpansion §3.2)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from resources.attacks.attack_parameters import AttackJob
from resources.attacks.encoders import Encoder
from resources.attacks.noise import draw_first_change
from resources.attacks.preparation import Tensor
from resources.models.backends.local_models import import_library
from resources.models.replies import ModelUnavailable

Watch: TypeAlias = Callable[[int, Sequence[float]], None]
"""Told the number of a step and the similarities before it, of the pictures still worked on."""

_SCALE = 2.0**14
"""Factor of gradients, which leaves steps unchanged: half precision has no room for the gradient
of a cosine over a million numbers."""


@dataclass(slots=True)
class GradientSearch:
    """A picture under attack: `change` is of its pixels in [0, 1], `target` its clean embedding.

    `target_similarity` ends a raised one; `failure_reason` says why it cannot go on.
    """

    job: AttackJob
    pixels: Tensor
    target: Tensor
    change: Tensor
    steps: int = 0
    target_similarity: float = 1.0
    failure_reason: str | None = None
    is_over: bool = False


def start_search(work: AttackJob, pixels: Tensor, target: Tensor) -> GradientSearch:
    """The search for a change of a picture, with its first, seeded one."""
    change = draw_first_change(work, tuple(pixels.shape[-2:])).to(pixels.device)
    search = GradientSearch(job=work, pixels=pixels, target=target, change=change)
    search.change = _clip(search, change)
    return search


def run_searches(encoder: Encoder, searches: Sequence[GradientSearch], watch: Watch) -> None:
    """Take all steps of some searches; each ends by itself, and the others go on without it."""
    active = list(searches)
    while active := [search for search in active if not _has_ended(search)]:
        similarity_values, gradients = _compute_gradients(encoder, active)
        watch(active[0].steps, similarity_values)
        _stop_early(encoder, active, similarity_values)
        largest = (
            import_library("torch").stack([gradient.abs().max() for gradient in gradients]).tolist()
        )
        for search, gradient, most in zip(active, gradients, largest, strict=True):
            if not search.is_over:
                _step(search, gradient, most)


def compute_similarities(embedded: Sequence[Tensor], targets: Sequence[Tensor]) -> Tensor:
    """The cosine of each embedding with its target, -1 to 1, over all of its numbers at once."""
    torch = import_library("torch")
    return torch.stack(
        [
            torch.nn.functional.cosine_similarity(
                embedding.flatten().float(), target.flatten(), dim=0
            )
            for embedding, target in zip(embedded, targets, strict=True)
        ]
    )


def round_to_levels(change: Tensor, work: AttackJob) -> Tensor:
    """A change in whole levels of 255: rounded, and never above its bound."""
    most = int(work.parameters.epsilon)
    return (change * 255).round().clamp(-most, most)


def _has_ended(search: GradientSearch) -> bool:
    work = search.job
    return search.is_over or search.steps >= work.parameters.get_max_steps(work.objective)


def _compute_gradients(
    encoder: Encoder, active: Sequence[GradientSearch]
) -> tuple[list[float], list[Tensor]]:
    """The similarity of each picture as it is now, and its gradient by the change."""
    torch = import_library("torch")
    changes = [search.change.detach().requires_grad_() for search in active]
    similarity_values = _similarities(encoder, active, changes)
    if not similarity_values.requires_grad:
        raise ModelUnavailable(
            f"The encoder of {type(encoder.network).__name__} gives no gradient, without which "
            "there is no attack. Take the role encoder from it in models.yaml."
        )
    gradients = torch.autograd.grad(_SCALE * similarity_values.sum(), changes)
    return similarity_values.tolist(), gradients


def _similarities(
    encoder: Encoder, active: Sequence[GradientSearch], changes: Sequence[Tensor]
) -> Tensor:
    embedded = encoder.embed(
        [
            encoder.prepare(search.pixels + change)
            for search, change in zip(active, changes, strict=True)
        ],
        [tuple(search.pixels.shape[-2:]) for search in active],
        [search.job.question for search in active],
    )
    return compute_similarities(embedded, [search.target for search in active])


def _stop_early(
    encoder: Encoder, active: Sequence[GradientSearch], similarity_values: Sequence[float]
) -> None:
    """End those whose similarity has been raised enough, also once their change is rounded."""
    near = []
    for search, similarity in zip(active, similarity_values, strict=True):
        part = search.job.parameters.early_stop
        if not search.steps:
            search.target_similarity = 1 - part * (1 - similarity)
        if search.job.objective == "raise" and part and similarity >= search.target_similarity:
            near.append(search)
    if near:
        with import_library("torch").no_grad():
            changes = [round_to_levels(search.change, search.job) / 255 for search in near]
            for search, similarity in zip(
                near, _similarities(encoder, near, changes).tolist(), strict=True
            ):
                search.is_over = similarity >= search.target_similarity


def _step(search: GradientSearch, gradient: Tensor, largest: float) -> None:
    """Take a step against the gradient, or along it where the similarity is to rise.

    `largest` is the gradient's largest component, by which PGD scales it: as it is, it moves no
    pixel by a level in all of the paper's steps.
    """
    work, parameters = search.job, search.job.parameters
    if largest == 0 or not math.isfinite(largest):
        gradient_state = "not finite" if largest else "nil"
        search.failure_reason = f"The gradient is {gradient_state} at step {search.steps + 1}."
        search.is_over = True
        return
    direction = gradient.sign() if work.method == "i_fgsm" else gradient / largest
    length = parameters.step / 255 * (1 if work.objective == "raise" else -1)
    search.change = _clip(search, search.change + length * direction)
    search.steps += 1


def _clip(search: GradientSearch, change: Tensor) -> Tensor:
    """The change within its bound, and the picture within [0, 1]."""
    bound = search.job.parameters.epsilon / 255
    return (search.pixels + change.clamp(-bound, bound)).clamp(0, 1) - search.pixels

"""Random changes of a picture, seeded, the same on every device."""

from hashlib import sha256

from resources.attacks.attack_parameters import AttackJob
from resources.attacks.preparation import Size, Tensor
from resources.models.backends.local_models import import_library


def draw_first_change(work: AttackJob, size: Size) -> Tensor:
    """The change that an attack begins with, in [-1, 1]: 3 x height x width, on the CPU.

    To lower the similarity it is uniform up to epsilon: at no change at all, the similarity is at
    its maximum, where its gradient is nil. To raise it, it is plus or minus `start` in each channel
    of each pixel.
    """
    if work.objective == "raise":
        return draw_comparison(work, size)
    chance = import_library("torch").rand((3, *size), generator=_generator(work.seed, "start"))
    return (2 * chance - 1) * work.parameters.epsilon / 255


def draw_comparison(work: AttackJob, size: Size) -> Tensor:
    """The random change that an attack is to do better than, in [-1, 1].

    In each channel of each pixel it is plus or minus epsilon; where the similarity is to be raised,
    plus or minus `start`, with which that begins.
    """
    parameters = work.parameters
    levels = parameters.epsilon
    if work.objective == "raise":
        levels = min(parameters.start, levels)
    chance = import_library("torch").randint(
        0, 2, (3, *size), generator=_generator(work.seed, "noise")
    )
    return (2.0 * chance - 1) * levels / 255


def _generator(seed: str, purpose: str) -> object:
    number = int.from_bytes(sha256(f"{purpose} {seed}".encode()).digest()[:7], "big")
    return import_library("torch").Generator("cpu").manual_seed(number)

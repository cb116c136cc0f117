"""Perturbing of one image, in worker processes."""

from generators.perturbations.pipeline import PerturbJob, perturb_png
from generators.perturbations.subject import Inapplicable


def try_to_perturb(perturbing: PerturbJob) -> bytes | str:
    """The PNG of the perturbed image, or the reason for which there is none."""
    try:
        return perturb_png(perturbing)
    except Inapplicable as why:
        return str(why)

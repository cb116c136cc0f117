"""Simulated scores of captions: quality + leniency + scale + injected preference + noise."""

import numpy as np
from scipy.stats import norm, t

from metrics.philautia.caption_scores import CaptionScores


def letters(number):
    return [chr(ord("A") + at) for at in range(number)]


def parts(random, models, gap, *, count=None):
    """Leniency, scale (0.5 to 2, log-uniform) and quality (with a deviation of `gap`) of models."""
    shape = (models,) if count is None else (count, models)
    quality = random.normal(size=shape)
    quality = quality - quality.mean(axis=-1, keepdims=True)
    quality *= gap / quality.std(axis=-1, keepdims=True)
    scale = np.exp(random.uniform(np.log(0.5), np.log(2), shape))
    return random.normal(60, 8, shape), scale, quality


def true_means(leniency, scale, quality, preference):
    """Φ without noise, (..., generators, evaluators)."""
    return leniency[..., None, :] + scale[..., None, :] * quality[..., :, None] + preference


def simulated(
    random,
    images=60,
    models=6,
    gap=5.0,
    preference=0.0,
    families=None,
    noise=10.0,
    family_preference=0.0,
    declines=0.0,
):
    """Scores of as many generators as evaluators; an image is as good or hard for all of them.

    `family_preference` is for captions of others of one's family; `declines` is the share of its
    own captions, the poorest ones, that each evaluator gives no score.
    """
    leniency, scale, quality = parts(random, models, gap)
    own = np.eye(models, dtype=bool)
    kin = CaptionScores.from_arrays(
        np.zeros((1, models, models)), letters(models), letters(models), families
    ).family_cells
    truth = true_means(
        leniency, scale, quality, preference * own + family_preference * (kin & ~own)
    )
    hard = random.normal(0, 8, (images, models, 1)) + random.normal(0, 8, (images, 1, 1))
    values = truth + scale * hard + random.normal(0, noise, (images, models, models))
    poorest = hard[..., 0] < np.quantile(hard[..., 0], declines, axis=0)
    values[np.where(poorest)[0], np.where(poorest)[1], np.where(poorest)[1]] = np.nan
    return CaptionScores.from_arrays(values, letters(models), letters(models), families)


def expanded_quantiles(resampled, images):
    """The quantiles along the first axis that Hesterberg (2015) advises for a level of 95 %."""
    outside = norm.cdf(np.sqrt(images / (images - 1)) * t.ppf(0.025, images - 1))
    return np.quantile(resampled, [outside, 1 - outside], axis=0)

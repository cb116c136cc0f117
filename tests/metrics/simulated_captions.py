"""Simulated scores of captions: quality + leniency + scale + injected preference + noise."""

import numpy as np

from metrics.caption_scores import CaptionScores


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


def simulated(random, images=60, models=6, gap=5.0, preference=0.0, families=None, noise=10.0):
    """Scores of as many generators as evaluators; an image is as good or hard for all of them."""
    leniency, scale, quality = parts(random, models, gap)
    truth = true_means(leniency, scale, quality, preference * np.eye(models))
    hard = random.normal(0, 8, (images, models, 1)) + random.normal(0, 8, (images, 1, 1))
    values = truth + scale * hard + random.normal(0, noise, (images, models, models))
    return CaptionScores.of(values, letters(models), letters(models), families)

"""Examples: captions that their own writer scores higher than others do.

How high is told by the judge's own measure: each score less the judge's mean, in its deviations,
over all captions of the setting. An example's preference is that of the writer less the mean of the
others'.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from assets.philautia.score_arrays import SettingScores
from metrics.philautia.caption_scores import Values

MAX_EXAMPLES = 6
"""Examples of a judge and setting."""


class PreferenceExample(NamedTuple):
    """A caption, and what each judge gave it; `means` are what each gives on average."""

    setting: str
    model: str
    image_id: str
    sha256: str
    caption: str
    preference: float
    """Preference in standard deviations."""
    scores: Mapping[str, float | None]
    means: Mapping[str, float]


def find_examples(
    setting_scores: SettingScores, captions: Mapping[str, pd.DataFrame]
) -> list[PreferenceExample]:
    """The strongest of each model that writes and scores, of pictures that all have scored.

    `captions` are by model: `image_id`, `sha256` and `caption`, indexed by the first.
    """
    if setting_scores.scores is None or len(setting_scores.scores.evaluators) < 2:
        return []
    values, evaluators = setting_scores.scores.values, setting_scores.scores.evaluators
    means = dict(zip(evaluators, _pivot_by_judge(values).mean().tolist(), strict=True))
    examples = []
    for image, generator, preference in _select_strongest(setting_scores):
        model, image_id = setting_scores.scores.generators[generator], setting_scores.images[image]
        caption = captions[model].loc[image_id]
        row = values[image, generator].tolist()
        image_scores = {
            judge: None if np.isnan(score) else score
            for judge, score in zip(evaluators, row, strict=True)
        }
        examples.append(
            PreferenceExample(
                *(setting_scores.setting, model, image_id),
                *(str(caption["sha256"]), str(caption["caption"]), preference),
                *(image_scores, means),
            )
        )
    return examples


def _select_strongest(setting_scores: SettingScores) -> Iterator[tuple[int, int, float]]:
    """The strongest of each model, each picture once, the models in their order.

    Which caption (its picture) of which model it is, and by how much it is preferred.
    """
    assert setting_scores.scores is not None
    values = setting_scores.scores.values
    judge_scores = _pivot_by_judge(values)
    deviation = judge_scores.std(ddof=0).replace(0.0, np.nan)
    standard = (values - judge_scores.mean().to_numpy()) / deviation.to_numpy()
    for generator, evaluator in zip(*np.nonzero(setting_scores.scores.own_cells), strict=True):
        others = np.delete(standard[:, generator, :], evaluator, axis=1)
        difference = standard[:, generator, evaluator] - others.mean(axis=1)
        order = np.argsort(-np.where(np.isnan(difference), -np.inf, difference), kind="stable")
        for image in order[:MAX_EXAMPLES].tolist():
            if difference[image] > 0:
                yield image, int(generator), float(difference[image])


def _pivot_by_judge(values: Values) -> pd.DataFrame:
    """A column for each judge, with all scores that it gave."""
    return pd.DataFrame(values.reshape(-1, values.shape[-1]))

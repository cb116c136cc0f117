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
    """In standard deviations."""
    scores: Mapping[str, float | None]
    means: Mapping[str, float]


def find_examples(
    found: SettingScores, captions: Mapping[str, pd.DataFrame]
) -> list[PreferenceExample]:
    """The strongest of each model that writes and scores, of pictures that all have scored.

    `captions` are by model: `image_id`, `sha256` and `caption`, indexed by the first.
    """
    if found.scores is None or len(found.scores.evaluators) < 2:
        return []
    values, evaluators = found.scores.values, found.scores.evaluators
    means = dict(zip(evaluators, _by_judge(values).mean().tolist(), strict=True))
    examples = []
    for image, generator, preference in _strongest(found):
        model, image_id = found.scores.generators[generator], found.images[image]
        caption = captions[model].loc[image_id]
        row = values[image, generator].tolist()
        given = {
            judge: None if np.isnan(score) else score
            for judge, score in zip(evaluators, row, strict=True)
        }
        examples.append(
            PreferenceExample(
                *(found.setting, model, image_id),
                *(str(caption["sha256"]), str(caption["caption"]), preference),
                *(given, means),
            )
        )
    return examples


def _strongest(found: SettingScores) -> Iterator[tuple[int, int, float]]:
    """The strongest of each model, each picture once, the models in their order.

    Which caption (its picture) of which model it is, and by how much it is preferred.
    """
    assert found.scores is not None
    values = found.scores.values
    given = _by_judge(values)
    deviation = given.std(ddof=0).replace(0.0, np.nan)
    standard = (values - given.mean().to_numpy()) / deviation.to_numpy()
    for generator, evaluator in zip(*np.nonzero(found.scores.own_cells), strict=True):
        others = np.delete(standard[:, generator, :], evaluator, axis=1)
        difference = standard[:, generator, evaluator] - others.mean(axis=1)
        order = np.argsort(-np.where(np.isnan(difference), -np.inf, difference), kind="stable")
        for at in order[:MAX_EXAMPLES].tolist():
            if difference[at] > 0:
                yield at, int(generator), float(difference[at])


def _by_judge(values: Values) -> pd.DataFrame:
    """A column for each judge, with all scores that it gave."""
    return pd.DataFrame(values.reshape(-1, values.shape[-1]))

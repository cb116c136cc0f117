"""Examples: captions that their own writer scores higher than others do, each beside a rival's.

How high is told by the judge's own measure: each score less the judge's mean, in its deviations,
over all captions of the setting. An example's preference is that of the writer less the mean of the
others'. Its rival is the writer of the same picture that disagrees most on the two captions: it
judges as well, and all four scores are there.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assets.philautia.score_arrays import SettingScores
from metrics.philautia.caption_scores import Values

MAX_EXAMPLES = 6
"""Examples of a judge and setting."""


class ScoredCaption(NamedTuple):
    """A writer's caption, and what each judge gave it."""

    model: str
    caption: str
    scores: Mapping[str, float | None]


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
    rival: ScoredCaption | None
    """None where no other writer has given both captions a score."""


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
    for strongest in _select_strongest(setting_scores):
        image_id = setting_scores.images[strongest.image]
        own_caption, *rivals = (
            ScoredCaption(
                setting_scores.scores.generators[generator],
                str(captions[setting_scores.scores.generators[generator]].loc[image_id, "caption"]),
                {
                    judge: None if np.isnan(score) else score
                    for judge, score in zip(
                        evaluators, values[strongest.image, generator].tolist(), strict=True
                    )
                },
            )
            for generator in (strongest.generator, strongest.rival)
            if generator is not None
        )
        examples.append(
            PreferenceExample(
                setting=setting_scores.setting,
                model=own_caption.model,
                image_id=image_id,
                sha256=str(captions[own_caption.model].loc[image_id, "sha256"]),
                caption=own_caption.caption,
                preference=strongest.preference,
                scores=own_caption.scores,
                means=means,
                rival=next(iter(rivals), None),
            )
        )
    return examples


class _Strongest(NamedTuple):
    """A caption by the numbers of its picture, its writer and its rival, and its preference."""

    image: int
    generator: int
    rival: int | None
    preference: float


def _select_strongest(setting_scores: SettingScores) -> Iterator[_Strongest]:
    """The strongest of each model, each picture once, the models in their order."""
    assert setting_scores.scores is not None
    values = setting_scores.scores.values
    judge_scores = _pivot_by_judge(values)
    deviation = judge_scores.std(ddof=0).replace(0.0, np.nan)
    standard = (values - judge_scores.mean().to_numpy()) / deviation.to_numpy()
    own_cells = np.argwhere(setting_scores.scores.own_cells)
    for generator, evaluator in own_cells:
        others = np.delete(standard[:, generator, :], evaluator, axis=1)
        difference = standard[:, generator, evaluator] - others.mean(axis=1)
        order = np.argsort(-np.where(np.isnan(difference), -np.inf, difference), kind="stable")
        for image in order[:MAX_EXAMPLES].tolist():
            if difference[image] > 0:
                rival = _find_rival(standard[image], own_cells, int(generator), int(evaluator))
                yield _Strongest(image, int(generator), rival, float(difference[image]))


def _find_rival(
    standard: Values, own_cells: NDArray[np.intp], generator: int, evaluator: int
) -> int | None:
    """The writer that disagrees most with another on both captions of a picture, by its number.

    None where the other gives no rival's caption less than its own, by more than the rival does.
    """
    disagreements = {}
    for rival, judge in own_cells:
        lead = standard[generator, evaluator] - standard[rival, evaluator]
        disagreement = lead - (standard[generator, judge] - standard[rival, judge])
        # Neither holds of what is not known.
        if lead > 0 and disagreement > 0:
            disagreements[int(rival)] = float(disagreement)
    return max(disagreements, key=lambda rival: disagreements[rival], default=None)


def _pivot_by_judge(values: Values) -> pd.DataFrame:
    """A column for each judge, with all scores that it gave."""
    return pd.DataFrame(values.reshape(-1, values.shape[-1]))

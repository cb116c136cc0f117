"""The reward of a score, by how it ranks a pair of pictures (ProtoBias, §3.3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

CORRECT, ADVERSARIAL = "correct", "adversarial"
SIDES = (CORRECT, ADVERSARIAL)
UNSCORED_REWARD = -1.0
"""Reward of a reply without a score."""
_STEP = 2.0**-16
"""Rewards are multiples of it. Trainers add them up as float32, 128 of them without rounding: the
mean of equal ones is then what each is, and their spread 0; of ninths it was not always."""


class TornPair(ValueError):
    """Raised when a batch has one picture of a pair without the other."""


def compute_rewards(
    scores: Sequence[float | None],
    pairs: Sequence[str],
    sides: Sequence[str],
    *,
    margin: float,
    penalty: float,
) -> list[float]:
    """The reward of each sample, by its own score and all of its pair's other picture.

    `scores` are 0 to 1, None for a reply that has none. With d = s(correct) − s(adversarial), it is
    the mean of 1(d > 0) + ½ · clip(d, −m, m) / m − λ · max(0, −d)² over the other picture's
    samples, rounded to 2⁻¹⁶: −0.5 − λ to 1.5; −1 for a reply without a score, and 0 where no reply
    about the other picture has one. Raises `TornPair`.
    """
    samples_by_pair = _group_by_pair(scores, pairs, sides)
    values_by_sample = []
    for score, pair, side in zip(scores, pairs, sides, strict=True):
        others = [
            other_score
            for other_score in samples_by_pair[pair][_other(side)]
            if other_score is not None
        ]
        if score is None:
            values_by_sample.append(UNSCORED_REWARD)
            continue
        differences = [
            score - other_score if side == CORRECT else other_score - score
            for other_score in others
        ]
        values = [_value(difference, margin, penalty) for difference in differences]
        values_by_sample.append(sum(values) / len(values) if values else 0.0)
    return [round(reward / _STEP) * _STEP for reward in values_by_sample]


def compute_misranked_shares(
    scores: Sequence[float | None], pairs: Sequence[str], sides: Sequence[str]
) -> list[float]:
    """Compute, for pairs scored on both sides, the share of comparisons that are misranked.

    A tie counts as won (ProtoBias, eq. 5). Raises `TornPair`.
    """
    shares = []
    for sampled in _group_by_pair(scores, pairs, sides).values():
        right, wrong = ([score for score in sampled[side] if score is not None] for side in SIDES)
        lost = [other >= score for score in right for other in wrong]
        if lost:
            shares.append(sum(lost) / len(lost))
    return shares


def _value(difference: float, margin: float, penalty: float) -> float:
    clear = max(-margin, min(margin, difference)) / margin
    return float(difference > 0) + clear / 2 - penalty * max(0.0, -difference) ** 2


def _group_by_pair(
    scores: Sequence[float | None], pairs: Sequence[str], sides: Sequence[str]
) -> Mapping[str, Mapping[str, Sequence[float | None]]]:
    samples_by_pair: dict[str, dict[str, list[float | None]]] = defaultdict(
        lambda: {s: [] for s in SIDES}
    )
    for score, pair, side in zip(scores, pairs, sides, strict=True):
        samples_by_pair[pair][side].append(score)
    for pair, sampled in samples_by_pair.items():
        right, wrong = (len(sampled[side]) for side in SIDES)
        if right != wrong:
            raise TornPair(
                f"The pair {pair} is torn: {right} samples of its correct and {wrong} of its "
                "adversarial picture are in one process's batch. Keep the order of the rows, and "
                "on each device a multiple of two pictures with all their samples."
            )
    return samples_by_pair


def _other(side: str) -> str:
    return ADVERSARIAL if side == CORRECT else CORRECT

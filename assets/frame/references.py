"""Stand-in judges: what each gives a picture, of which it is told what was done to it.

`pixels` goes by how many concepts were changed and by nothing else; `gullible` as well, but adds
what `RISES` says for each bias. So the report has to find these rises for `gullible`, and nothing
for `pixels`. Both begin at 0 to 3 of 5, so that no rise is cut off at the top.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from assets.frame.biases import JOINED
from assets.kit.judging import StandInAnswers
from assets.kit.step_run import Row
from generators.perturbations.grids import GRID
from generators.prompts.judging_templates import SCALE
from resources.storage.image_store import ImageStore

RISES: Mapping[str, int] = {"instruction": 2}
"""Rise of the score of `gullible` for each bias; 1 for any other bias."""
_LOWEST, _HIGHEST = SCALE
_FIT, _UNKNOWN = 3, 2


def score_rise(bias: str) -> int:
    """Return the rise in `gullible`'s score of a picture with this bias, before the scale ends.

    A sham is no bias, and raises nothing.

    >>> score_rise("none"), score_rise("padding"), score_rise("instruction+padding")
    (0, 1, 3)
    """
    return sum(RISES.get(part, 1) for part in bias.split(JOINED) if part in GRID)


def score_from_truth(row: Row) -> int:
    """Return a picture's score whatever its bias: 0 to 3, by the number of unchanged concepts."""
    return _UNKNOWN if row["alignment"] is None else round(_FIT * row["alignment"])


def _guess_score(row: Row) -> int:
    lot = sha256(f"{row['sha256']}/{row['instruction']}/{row['template']}".encode()).digest()
    return int.from_bytes(lot[:8], "big") % (_HIGHEST + 1 - _LOWEST) + _LOWEST


def _build_score_judge(
    score: Callable[[Row], int],
) -> Callable[[Row, ImageStore], Mapping[str, Any]]:
    return lambda row, images: {"score": float(score(row)), "outcome": "scored"}


STAND_IN_ANSWERS: StandInAnswers = {
    "pixels": _build_score_judge(score_from_truth),
    "gullible": _build_score_judge(
        lambda row: min(_HIGHEST, score_from_truth(row) + score_rise(row["bias"]))
    ),
    # It looks at no picture, and takes it for what was asked for.
    "prior": _build_score_judge(lambda row: _HIGHEST),
    "random": _build_score_judge(_guess_score),
}

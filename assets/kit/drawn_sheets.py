"""Sheets of pictures that come to people with chances, larger where judges are unsure.

Each picture has one lot, a number from 0 to 1 that never changes: a draw takes the pictures whose
lot is below their chance. So several draws, by other judges or of other sizes, are together one
draw by the largest of each picture's chances, once people have scored all of it.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from pydantic import Field
from upath import UPath

from assets.kit.columns import REAL
from assets.kit.model_lookup import NoSuchModel
from assets.kit.score_files import HumanScore, read_chance
from assets.kit.score_sheets import SHEET
from assets.kit.sheets import read_sheet
from generators.name_suggestions import suggest_names
from metrics.statistics.uncertainty_sampling import (
    build_chances,
    measure_disagreement,
    measure_doubt,
)
from resources.settings.run_config import Config
from resources.storage.files import is_stored
from resources.user_files.rows import build_all

CHANCE_COLUMN = (
    REAL,
    "Chance of coming into the sheet, by which estimates weigh; 1 where all had the same; empty "
    "where estimates do not count it, such as before all of its sheet is scored",
)


class UncertainChoiceConfig(Config):
    """Judges whose uncertainty chooses pictures."""

    chosen_by: list[str] = Field(
        default=[],
        description=(
            "Judges whose uncertainty chooses the second half of the pictures, on top of a first "
            "half with equal chances. One judge is unsure where it nearly ties, several where they "
            "differ. Pictures of earlier sheets stay. Default: equal chances, or the sheet that "
            "was chosen before."
        ),
    )


def require_judge(asset: str, name: str, judges: Sequence[str]) -> None:
    """Raise `NoSuchModel` for a name in `chosen_by` that is none of an asset's judges."""
    if name not in judges:
        raise NoSuchModel(
            f"{asset}: chosen_by names {name!r}, which is no judge or metric of this benchmark"
            f"{suggest_names(name, judges)}."
        )


def draw_by_uncertainty(answers: pd.DataFrame, expected: float) -> dict[str, float]:
    """Draw `expected` items on average, and give the chance of each drawn one.

    `answers` has a row per item, in the order of their lots, and a column per judge: signed
    distances from undecided of one judge, or the answers of several.
    """
    is_single = answers.shape[1] == 1
    unsure = measure_doubt(answers.iloc[:, 0]) if is_single else measure_disagreement(answers)
    chances = build_chances(unsure, expected)
    lots = (np.arange(len(chances)) + 0.5) / max(len(chances), 1)
    return {
        str(name): round(float(chance), 6)
        for name, chance, lot in zip(answers.index, chances, lots, strict=True)
        if lot < chance
    }


def read_earlier_draws(folder: UPath, scores: Iterable[HumanScore]) -> dict[str, float]:
    """Read the chances in the sheet of a folder and beside people's scores, by picture.

    Empty where all came with equal chances. Raises `UserFileError`.
    """
    sheet = folder / SHEET
    rows = read_sheet(sheet, ("image",)) if is_stored(sheet) else ()
    recorded = build_all(sheet, rows, lambda row: (row.cells["image"], read_chance(row)))
    recorded += [(score.image, score.chance) for score in scores]
    return unite_draws({image: chance} for image, chance in recorded if chance is not None)


def unite_draws(draws: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Unite draws by the same lots: the largest chance of each picture."""
    united: dict[str, float] = {}
    for draw in draws:
        for image, chance in draw.items():
            united[image] = max(chance, united.get(image, 0.0))
    return united


def find_estimate_chances(
    drawn: Mapping[str, float], scores: Sequence[HumanScore]
) -> dict[str, float | None]:
    """Find the chance by which estimates weigh each scored picture; None: it does not count.

    Until every drawn picture has a score, only those count that came with equal chances.
    """
    scored = {score.image for score in scores}
    if not drawn.keys() <= scored:
        chosen = {score.image for score in scores if score.chance is not None}
        return {image: None if image in chosen else 1.0 for image in scored}
    return {image: drawn.get(image) if drawn else 1.0 for image in scored}


def describe_choice(drawn: Mapping[str, float], scores: Sequence[HumanScore]) -> str:
    """Say how the pictures of a sheet were chosen, and whether estimates count them yet."""
    if not drawn:
        return "With equal chances."
    missing = len(drawn.keys() - {score.image for score in scores})
    if not missing:
        return "By the uncertainty of judges. All are scored: estimates weigh them by their chance."
    return (
        f"By the uncertainty of judges. {missing:,} of {len(drawn):,} pictures have no score yet: "
        "estimates count those with equal chances alone until all have one."
    )

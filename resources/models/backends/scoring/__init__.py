"""The formulas by which metrics of the backend transformers score a picture against a text.

`clip_score`, `pick_score` and `siglip_score` compare embeddings, `itm_score` has a text read beside
the picture, `vqa_score` asks a vision-language model a
question and takes the probability of its answer, `vision_score` asks one for a number and
`expected_score` for a digit, of which it takes the expectation. Scores are raw; `metrics` brings
them to one scale. They are kept under the formula's name: what asks with other words, or prepares
otherwise, is another formula.
"""

from collections.abc import Callable, Mapping

from resources.models.backends.base import PictureLoader
from resources.models.backends.local_models import parse_settings
from resources.models.backends.scoring.base import FormulaSettings, ScoringFormula
from resources.models.backends.scoring.embeddings import ClipScore, PickScore, SiglipScore
from resources.models.backends.scoring.expected_score import ExpectedScore
from resources.models.backends.scoring.itm_score import ItmScore
from resources.models.backends.scoring.vision_score import VisionScore
from resources.models.backends.scoring.vqa_score import VqaScore
from resources.models.catalog import Model
from resources.models.formulas import Formula

__all__ = ["ScoringFormula", "load_formula"]

_FORMULAS: Mapping[
    Formula, Callable[[Model, str | None, PictureLoader, FormulaSettings], ScoringFormula]
] = {
    "clip_score": ClipScore,
    "pick_score": PickScore,
    "siglip_score": SiglipScore,
    "itm_score": ItmScore,
    "vqa_score": VqaScore,
    "vision_score": VisionScore,
    "expected_score": ExpectedScore,
}


def load_formula(model: Model, key: str | None, picture: PictureLoader) -> ScoringFormula:
    """Load the metric of an entry; raises `ModelUnavailable` where it cannot be loaded."""
    formula_settings = parse_settings(model, FormulaSettings)
    return _FORMULAS[formula_settings.formula](model, key, picture, formula_settings)

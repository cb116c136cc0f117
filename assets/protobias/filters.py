"""Filters: which model rates how well a picture fits its own prompt, and what it says."""

from collections.abc import Iterable, Sequence
from typing import Any

from assets.kit.conversations import format_reason, unanswered_columns
from assets.kit.model_lookup import NoSuchModel, find_model
from assets.kit.step_run import Row
from assets.protobias.common import FILTERED_KEY
from generators.prompts.rating_prompts import FILTER_SCALE as SCALE
from generators.prompts.rating_prompts import write_filter_prompt
from generators.sketch_fit import Fit
from metrics.reply_parsing.ratings import read_rating
from resources.models.catalog import Catalog, Model, Role
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.requests import LookRequest, Turn

FILTERS: tuple[Role, ...] = ("captioner", "judge")
"""The roles that can look at a picture."""
PIXELS = "pixels"


def find_filter(catalog: Catalog, painter: Model, name: str) -> Model:
    """The filter of that name; of none, the painter's default. Raises `NoSuchModel`.

    By default schematics are read by `pixels`, and other pictures are looked at by the captioner
    that is no stand-in, if there is just one.
    """
    judge = find_model(catalog, name, *FILTERS) if name else _find_default(catalog, painter)
    if judge.is_stand_in and not (reads_pixels(judge) and painter.is_stand_in):
        able = "reads schematics alone" if reads_pixels(judge) else "looks at no picture"
        raise NoSuchModel(
            f"{judge.name} {able}, and cannot filter pictures of {painter.name}. Name a model of "
            f"{catalog.path} with the role captioner or judge that sees, in the run config: filter."
        )
    return judge


def _find_default(catalog: Catalog, painter: Model) -> Model:
    if painter.is_stand_in:
        able = [model for model in catalog.select_role("judge") if reads_pixels(model)]
        lacking = "the stand-in judge pixels (backend: stand_in, model: pixels, roles: [judge])"
    else:
        able = [model for model in catalog.select_role("captioner") if not model.is_stand_in]
        lacking = "a vision model with the role captioner"
    if not able:
        raise NoSuchModel(
            f"No model of {catalog.path} can filter pictures of {painter.name}. Add {lacking}, "
            "or name a judge in the run config: filter."
        )
    if len(able) > 1:
        names = [model.name for model in able]
        raise NoSuchModel(
            f"No filter is set for pictures of {painter.name}, and {len(able)} models of "
            f"{catalog.path} fit: {', '.join(names)}. Name one in the run config, best of "
            "another family than the judges and metrics, or leave the role captioner to one of "
            "them: ops: "
            f"{{{FILTERED_KEY.to_python_identifier()}: {{config: {{filter: {names[0]}}}}}}}."
        )
    return able[0]


def family_warning(judge: Model, scorers: Iterable[Model]) -> str | None:
    """Return a warning if judges or metrics score pairs chosen by a filter of their own family."""
    names = [
        scorer.name
        for scorer in scorers
        if scorer.family == judge.family and not scorer.is_stand_in
    ]
    if not names or judge.is_stand_in:
        return None
    return (
        f"The filter {judge.name} is of the family {judge.family}, as {' and '.join(names)} "
        f"{'is' if len(names) == 1 else 'are'}: the pairs that it keeps may be easier for them. "
        "Name a filter of another family in the run config, or set their scores apart."
    )


def reads_pixels(model: Model) -> bool:
    """Return whether the model is the stand-in judge, which reads schematics without requests."""
    return model.is_stand_in and model.model == PIXELS


def build_request(prompt: str, digest: str) -> LookRequest:
    """Build a vision model's request about a picture; it holds only the picture's own prompt."""
    return LookRequest((Turn("user", write_filter_prompt(prompt), (digest,)),))


def parse_rating(outcome: Outcome, calls: Sequence[str]) -> dict[str, Any]:
    """Parse a vision model's reply; a reply without a score yields none, never a low score."""
    if isinstance(outcome, AnsweredOutcome):
        rating = read_rating(outcome.text or "", *SCALE)
        return _build_filter_columns(
            rating.outcome, rating.score, outcome.text, rating.reason, calls
        )
    ended = unanswered_columns(outcome, "unparsed")
    return _build_filter_columns(ended["outcome"], None, None, format_reason(ended), calls)


def build_fit_columns(fit: Fit) -> dict[str, Any]:
    """The answer of `pixels`: how far a schematic shows its prompt, 1 to 10."""
    low, high = SCALE
    if fit.share is None:
        return _build_filter_columns("unparsed", None, None, fit.reason)
    score = low + round(fit.share * (high - low))
    return _build_filter_columns("scored", score, f"{fit.share:g}", None)


def unasked_columns(row: Row) -> dict[str, Any]:
    """Return the filter's columns for a picture that is missing or flawed."""
    return _build_filter_columns(
        "unpainted", None, None, f"It is {row['outcome']}: {row['reason']}"
    )


def _build_filter_columns(
    outcome: str,
    score: int | None,
    response: str | None,
    reason: str | None,
    calls: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "filter_outcome": outcome,
        "filter_score": score,
        "filter_response": response,
        "filter_reason": reason,
        "filter_calls": list(calls),
    }

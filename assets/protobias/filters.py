"""Who says how well a picture fits the prompt that it was painted from, and what they say."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assets.kit.choice import NoSuchModel, chosen
from assets.kit.pictures import Row
from assets.protobias.common import key
from generators.prompts.rating_prompts import FILTER_SCALE as SCALE
from generators.prompts.rating_prompts import filter_prompt
from generators.reading import Unreadable
from generators.sketch_reader import fit
from metrics.ratings import read_rating
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model, Role
from resources.models.outcomes import Answered, Failed, Malformed, Outcome, Refused
from resources.models.requests import Look, Turn

FILTERS: tuple[Role, ...] = ("captioner", "judge")
"""The roles that can look at a picture."""
PIXELS = "pixels"
FILTERED_PAIRS = key("filtered_pairs")


class Said(NamedTuple):
    """What a filter said of one picture: a score, or why there is none."""

    score: int | None
    outcome: str
    """scored, unparsed, refused or failed; unpainted where it was not asked."""
    response: str | None
    reason: str | None
    calls: Sequence[str] = ()


def filter_of(catalog: Catalog, painter: Model, name: str) -> Model:
    """The filter of that name; of none, the painter's default. Raises `NoSuchModel`.

    By default schematics are read by `pixels`, and other pictures are looked at by the captioner
    that does not run offline, if there is just one.
    """
    found = chosen(catalog, name, *FILTERS) if name else _default(catalog, painter)
    if found.rehearses and not (reads_pixels(found) and painter.rehearses):
        able = "reads schematics alone" if reads_pixels(found) else "looks at no picture"
        raise NoSuchModel(
            f"{found.name} {able}, and cannot filter what {painter.name} paints. Name a model of "
            f"{catalog.path} with the role captioner or judge that sees, in the run config: filter."
        )
    return found


def _default(catalog: Catalog, painter: Model) -> Model:
    if painter.rehearses:
        able = [model for model in catalog.with_role("judge") if reads_pixels(model)]
        lacking = "the reference judge pixels (backend: offline, model: pixels, roles: [judge])"
    else:
        able = [model for model in catalog.with_role("captioner") if not model.rehearses]
        lacking = "a vision model with the role captioner"
    if not able:
        raise NoSuchModel(
            f"Nobody in {catalog.path} can filter what {painter.name} paints. Add {lacking}, or "
            "name a judge in the run config: filter."
        )
    if len(able) > 1:
        names = [model.name for model in able]
        raise NoSuchModel(
            f"Which model filters what {painter.name} paints is not said, and {len(able)} of "
            f"{catalog.path} could: {', '.join(names)}. Name one in the run config, best of "
            "another family than the judges and metrics, or leave the role captioner to one of "
            "them: ops: "
            f"{{{FILTERED_PAIRS.to_python_identifier()}: {{config: {{filter: {names[0]}}}}}}}."
        )
    return able[0]


def family_warning(seer: Model, scorers: Iterable[Model]) -> str | None:
    """That judges and metrics score what a filter of their own family chose, if any do."""
    names = [each.name for each in scorers if each.family == seer.family and not each.rehearses]
    if not names or seer.rehearses:
        return None
    return (
        f"The filter {seer.name} is of the family {seer.family}, as {' and '.join(names)} "
        f"{'is' if len(names) == 1 else 'are'}: the pairs that it keeps may be easier for them. "
        "Name a filter of another family in the run config, or set their scores apart."
    )


def reads_pixels(model: Model) -> bool:
    """Whether it is the reference judge that reads schematics, which is asked no request."""
    return model.rehearses and model.model == PIXELS


def look_at(prompt: str, digest: str) -> Look:
    """What a vision model is asked about a picture: its own prompt, and nothing else of its row."""
    return Look((Turn("user", filter_prompt(prompt), (digest,)),))


def rated(outcome: Outcome, calls: Sequence[str]) -> Said:
    """What a vision model said; words without a score are none, and not a low one."""
    match outcome:
        case Answered(text=text):
            rating = read_rating(text or "", *SCALE)
            return Said(rating.score, rating.outcome, text, rating.reason, calls)
        case Refused(kind=kind, reason=reason):
            return Said(None, "refused", None, f"{kind}: {reason}", calls)
        case Malformed(problem=problem):
            return Said(None, "unparsed", None, problem, calls)
        case Failed(error=error):
            return Said(None, "failed", None, error, calls)
    raise TypeError(f"A look cannot end as {outcome!r}.")


def read_off(rows: Iterable[Row], images: ImageStore) -> Iterator[Said]:
    """What `pixels` says: how much of what its prompt tells each schematic shows, as 1 to 10."""
    low, high = SCALE
    for row in rows:
        try:
            share = fit(images.get(row["sha256"]), row["prompt"])
        except Unreadable as why:
            yield Said(None, "unparsed", None, str(why))
        else:
            yield Said(low + round(share * (high - low)), "scored", f"{share:g}", None)


def unasked(row: Row) -> Said:
    """Of a picture that there is not, or that is flawed."""
    return Said(None, "unpainted", None, f"It is {row['outcome']}: {row['reason']}")


def columns_of(said: Said) -> dict[str, Any]:
    """The columns of `filtered_pairs` that tell what was said."""
    return {f"filter_{name}": value for name, value in said._asdict().items()}

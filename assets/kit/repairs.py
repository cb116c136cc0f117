"""The request that follows text which misses the schema that it was asked for."""

from resources.models.catalog import Model
from resources.models.outcomes import Malformed, Outcome, repaired
from resources.models.pricing import longest_output
from resources.models.requests import Request, Write


def repair_of(request: Request, outcome: Outcome) -> Write | None:
    """The request that follows a reply; None where that is what was asked for."""
    if isinstance(request, Write) and isinstance(outcome, Malformed) and not outcome.unreadable:
        return repaired(request, outcome)
    return None


def longest_repair(model: Model, request: Request) -> Write | None:
    """The largest request that may follow one that has no reply yet; None where none may."""
    if not isinstance(request, Write) or request.schema is None:
        return None
    said = "?" * (longest_output(model) or 0)
    # What is wrong quotes the answer, or the schema, or both.
    return repaired(request, Malformed(said + request.schema, said))

"""What asking again costs, where text misses the schema that it was asked for."""

from resources.calls import Call
from resources.models.catalog import Model
from resources.models.outcomes import Malformed, outcome_of, repaired
from resources.models.pricing import longest_output
from resources.models.requests import Request, Write


def may_miss(request: Request) -> bool:
    """Whether an answer may have to be asked for again, since it has to follow a schema."""
    return isinstance(request, Write) and request.schema is not None


def longest_repair(model: Model, request: Request) -> Write | None:
    """The largest request that may follow one that is not answered yet; None where none may."""
    if not isinstance(request, Write) or request.schema is None:
        return None
    said = "?" * (longest_output(model) or 0)
    # What is wrong quotes the answer, or the schema, or both.
    return repaired(request, Malformed(said + request.schema, said))


def repair_of(request: Request, call: Call) -> Write | None:
    """The request that follows a stored answer; None where that is what was asked for."""
    outcome = outcome_of(call, request)
    if isinstance(request, Write) and isinstance(outcome, Malformed) and not outcome.unreadable:
        return repaired(request, outcome)
    return None

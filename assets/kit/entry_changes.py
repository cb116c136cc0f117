"""Fields of an entry of models.yaml to change, by what its check has found."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from assets.kit.entry_check import CheckCause, CheckResult
from generators.name_suggestions import find_similar
from resources.models.catalog import Model
from resources.models.entry_drafts import LIMIT_NAMES
from resources.models.outcomes import FailedOutcome
from resources.models.parameter_checks import MAX_TOKENS, read_token_limits
from resources.models.pricing import find_output_limit

_WITHOUT_ROLES: tuple[CheckCause, ...] = ("vision", "blind", "schema")
"""Causes that no parameter mends: the entry loses the roles that need what does not work."""
_ROOMIER = 4
"""Factor by which a limit is raised that thinking has used up, and of a window over an answer."""
_USUAL_LIMIT = 4000


def suggest_changes(
    model: Model, results: Sequence[CheckResult], listed_ids: Sequence[str]
) -> dict[str, Any]:
    """The fields to change in an entry, whole; none where no change of it would help."""
    faults = {result.cause: result for result in results if result.problem is not None}
    lost_roles = {
        role
        for result in results
        if result.problem and result.cause in _WITHOUT_ROLES
        for role in result.question.roles
    }
    roles = [role for role in model.roles if role not in lost_roles]
    parameters = _change_parameters(model, faults)
    is_unlisted = "model" in faults and model.model not in listed_ids
    similar = find_similar(model.model, listed_ids) if is_unlisted else []
    address = model.base_url if isinstance(model.base_url, str) else ""
    lacks_path = is_unlisted and not listed_ids and address and urlsplit(address).path in ("", "/")
    is_keyless = "key" in faults and model.key_variable is None
    return {
        **({"model": similar[0]} if similar else {}),
        **({"base_url": f"{address.rstrip('/')}/v1"} if lacks_path else {}),
        **({"roles": roles} if lost_roles and roles else {}),
        **({"key": "MY_SERVER_KEY"} if is_keyless else {}),
        **({"parameters": parameters} if parameters != model.parameters else {}),
    }


def _change_parameters(
    model: Model, faults: Mapping[CheckCause | None, CheckResult]
) -> dict[str, Any]:
    parameters = dict(model.parameters)
    limits = read_token_limits(model.backend, parameters)
    if "limit" in faults:
        name = next(iter(limits), LIMIT_NAMES[model.backend])
        limit = find_output_limit(model) or _USUAL_LIMIT
        parameters[name] = min(_ROOMIER * limit, MAX_TOKENS)
    if "context" in faults:
        window = re.search(r"length (?:is|of) (\d+)", _words(faults["context"]))
        if window:
            largest = int(window[1]) // _ROOMIER
            parameters |= {name: min(limit, largest) for name, limit in limits.items()}
    if "parameter" in faults:
        words = _words(faults["parameter"])
        name_match = re.search(r"parameter:? '?(\w+)|\((\w+) is set in models", words)
        new_name = re.search(r"[Uu]se '(\w+)' instead", words)
        names = name_match.groups() if name_match else ()
        value = parameters.pop(next(filter(None, names), ""), None)
        if new_name and value is not None:
            parameters[new_name[1]] = value
    return parameters


def _words(result: CheckResult) -> str:
    return result.outcome.error if isinstance(result.outcome, FailedOutcome) else ""

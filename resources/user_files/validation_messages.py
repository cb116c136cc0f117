"""Errors of pydantic in words that name the field, the nearest valid one and the remedy."""

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from generators.name_suggestions import suggest_names
from resources.models.parameter_checks import SECRET_NAME

_REMEDIES = {
    "string_type": ": put it in quotes",
    "int_type": ": write it without quotes or point",
    "float_type": ": write it without quotes",
}


def format_validation_error(error: ErrorDetails, model: type[BaseModel]) -> str:
    """One error of validating an entry, without the value where that could be a secret."""
    where = [part for part in error["loc"] if isinstance(part, str) and part != "[key]"]
    if not where:
        return "the entry is no mapping: write `name: …` and what follows below it"
    fields, kind = _fields(model, where[:-1]), error["type"]
    if kind == "missing":
        text = f"is missing: {fields[where[-1]].description}"
    elif kind == "extra_forbidden":
        text = f"is no field{suggest_names(where[-1], fields)}{_instead(where[-1], fields)}"
    elif kind == "literal_error":
        choices = re.findall(r"'(.*?)'", error["ctx"]["expected"])
        text = f"is {error['input']!r}{suggest_names(str(error['input']), choices)}"
    elif kind == "value_error":
        text = str(error["ctx"]["error"])
    elif kind in ("too_short", "string_too_short") or error["input"] is None:
        field = fields.get(where[-1])
        text = f"is empty: {(field and field.description) or 'write a value, or remove it'}"
    elif kind == "string_pattern_mismatch":
        text = 'is no size of an image: write it as in "1024x1024/high", "1024x1024", "2K"'
    else:
        text = re.sub(r"^(Input )?should", "has to", error["msg"].replace("Input should", "should"))
        text = re.sub(r"dictionary( or instance of \w+)?", "mapping of names to values", text)
        text = text.replace("valid tuple", "list, as in [judge]")
        if kind.endswith("_type"):
            text += f", not {type(error['input']).__name__}{_REMEDIES.get(kind, '')}"
    return f"`{'.'.join(where)}` {text}"


def _instead(name: str, fields: Mapping[str, Any]) -> str:
    """Where something goes that is no field of an entry."""
    if "parameters" not in fields:
        return ""
    if SECRET_NAME.fullmatch(name):
        return (
            ". `key` takes the name of the environment variable that holds an API key. If this was "
            "one, hold it for leaked"
        )
    return ". What the provider is to be sent goes below `parameters`"


def _fields(model: type[BaseModel], path: list[str]) -> dict[str, Any]:
    """The fields of `model`, or of the model within it that `path` leads to.

    The path has the names of fields and those in mappings, without the places in lists.
    """
    found: Any = model
    for part in path:
        if _is_model(found):
            found = found.model_fields[part].annotation if part in found.model_fields else None
        else:
            found = next(reversed(get_args(found)), None)
        if get_origin(found) is tuple:
            found = get_args(found)[0]
    return dict(found.model_fields) if _is_model(found) else {}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

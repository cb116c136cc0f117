"""Messages for pydantic's errors: the field, the nearest valid one and the remedy."""

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
    """Format an error of validating an entry, without the value where that could be a secret."""
    field_path = [part for part in error["loc"] if isinstance(part, str) and part != "[key]"]
    if not field_path:
        return "the entry is no mapping: write `name: …` and what follows below it"
    fields, error_type = _fields(model, field_path[:-1]), error["type"]
    if error_type == "missing":
        text = f"is missing: {fields[field_path[-1]].description}"
    elif error_type == "extra_forbidden":
        name = field_path[-1]
        text = f"is no field{suggest_names(name, fields)}{_suggest_place(name, fields)}"
    elif error_type == "literal_error":
        choices = re.findall(r"'(.*?)'", error["ctx"]["expected"])
        text = f"is {error['input']!r}{suggest_names(str(error['input']), choices)}"
    elif error_type == "value_error":
        text = str(error["ctx"]["error"])
    elif error_type in ("too_short", "string_too_short") or error["input"] is None:
        field = fields.get(field_path[-1])
        text = f"is empty: {(field and field.description) or 'write a value, or remove it'}"
    elif error_type == "string_pattern_mismatch":
        text = 'is no size of an image: write it as in "1024x1024/high", "1024x1024", "2K"'
    else:
        text = re.sub(r"^(Input )?should", "has to", error["msg"].replace("Input should", "should"))
        text = re.sub(r"dictionary( or instance of \w+)?", "mapping of names to values", text)
        text = text.replace("valid tuple", "list, as in [judge]")
        if error_type.endswith("_type"):
            text += f", not {type(error['input']).__name__}{_REMEDIES.get(error_type, '')}"
    return f"`{'.'.join(field_path)}` {text}"


def _suggest_place(name: str, fields: Mapping[str, Any]) -> str:
    """The place of a value that is no field of an entry."""
    if "parameters" not in fields:
        return ""
    if SECRET_NAME.fullmatch(name):
        return (
            ". `key` takes the name of the environment variable that holds an API key. If this was "
            "one, treat it as leaked"
        )
    return ". Settings for the provider go below `parameters`"


def _fields(model: type[BaseModel], path: list[str]) -> dict[str, Any]:
    """The fields of `model`, or of the model within it that `path` leads to.

    The path has the names of fields and those in mappings, without the places in lists.
    """
    annotation: Any = model
    for name in path:
        if _is_model(annotation):
            annotation = (
                annotation.model_fields[name].annotation
                if name in annotation.model_fields
                else None
            )
        else:
            annotation = next(reversed(get_args(annotation)), None)
        if get_origin(annotation) is tuple:
            annotation = get_args(annotation)[0]
    return dict(annotation.model_fields) if _is_model(annotation) else {}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

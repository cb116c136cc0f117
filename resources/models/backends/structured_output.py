"""OpenAI's requests for JSON."""

import json
from typing import Any

# What a strict schema may say of a value, in OpenAI's guide to structured outputs.
_STRICT_WORDS = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "items",
        "maximum",
        "maxItems",
        "minimum",
        "minItems",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)


def build_response_format(schema: str) -> dict[str, Any]:
    """The `response_format` that asks for JSON to a schema, strictly where the schema allows."""
    parsed = json.loads(schema)
    strict = parsed.get("type") == "object" and "anyOf" not in parsed and _strict(parsed)
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": strict, "schema": parsed},
    }


def _strict(schema: Any) -> bool:
    """Return whether OpenAI takes a schema as strict: known words, closed complete objects."""
    if not isinstance(schema, dict) or not _STRICT_WORDS.issuperset(schema):
        return False
    named = schema.get("properties", {})
    if "object" in schema.get("type", "") or named:
        complete = set(schema.get("required", [])) == set(named)
        if schema.get("additionalProperties") is not False or not complete:
            return False
    items = [schema["items"]] if "items" in schema else []
    inner = [*named.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", []), *items]
    return all(map(_strict, inner))

"""A value that follows a JSON Schema, for a provider that was asked for one."""

from collections.abc import Mapping
from typing import Any


def example(  # noqa: PLR0911  # one for each kind of schema
    schema: Mapping[str, Any], word: str, whole: Mapping[str, Any] | None = None
) -> Any:
    """The least value that `schema` allows; its strings begin with `word`.

    Type names may be in capitals, as Gemini's own kind of schema has them.
    """
    whole = whole or schema
    if "$ref" in schema:
        target: Any = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return example(target, word, whole)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example(schema[choice][0], word, whole)
    kind = schema.get("type", "object")
    match (kind if isinstance(kind, str) else kind[0]).lower():
        case "object":
            properties = schema.get("properties", {})
            return {
                name: example(part, f"{word} {name}", whole) for name, part in properties.items()
            }
        case "array":
            many = int(schema.get("minItems", 1))
            return [example(schema["items"], f"{word} {i}", whole) for i in range(many)]
        case "string":
            return word.ljust(int(schema.get("minLength", 0)), "-")[: schema.get("maxLength")]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return None

"""Fields of an entry of models.yaml that a budget or a quote needs and that it lacks."""

from collections.abc import Mapping
from typing import Any

import yaml

from resources.calls.spending import Mode
from resources.faults import MissingPrice
from resources.models.backend_names import LOCAL_BACKENDS
from resources.models.catalog import Model
from resources.models.pricing import find_output_limit, format_size_and_quality, has_image_price
from resources.models.requests import EditRequest, PaintRequest, Request

_COMMENTS: Mapping[str, str] = {
    "price": "US dollars, for a million tokens, a picture or an hour of your GPU (0 is free)",
    "longest_output": "tokens of its longest answer, with its reasoning",
    "parameters": "a size that it paints",
}
"""Comments on what to write for each USD or TOKENS, by field."""


def find_missing_fields(
    model: Model, request: Request, mode: Mode = "online"
) -> dict[str, Mapping[str, Any]]:
    """Fields without which the most that a request may cost is unknown.

    Each name comes with the fields to add to the entry; USD and TOKENS stand for numbers that only
    the provider's pages give.
    """
    price, size = model.price, format_size_and_quality(model)
    fields: dict[str, Mapping[str, Any]] = {}
    if mode == "batch" and price.batch_share is None:
        fields["price.batch_share (0.5 for half the price)"] = {"price": {"batch_share": 0.5}}
    if isinstance(request, PaintRequest | EditRequest) and price.per_image:
        if size is None:
            name = "a size among its parameters, since price.per_image goes by size"
            fields[name] = {"parameters": {"size": next(iter(price.per_image)).partition("/")[0]}}
        elif not has_image_price(model):
            fields[f'price.per_image for "{size}"'] = {"price": {"per_image": {size: "USD"}}}
        return fields
    if model.backend in LOCAL_BACKENDS:
        if price.per_gpu_hour is None:
            fields["price.per_gpu_hour"] = {"price": {"per_gpu_hour": "USD"}}
        return fields
    for name in ("input_per_million", "output_per_million"):
        if getattr(price, name) is None:
            fields[f"price.{name}"] = {"price": {name: "USD"}}
    if find_output_limit(model) is None:
        name = "longest_output (tokens of its longest answer), or a limit among its parameters"
        fields[name] = {"longest_output": "TOKENS"}
    return fields


def describe_missing_fields(model: Model, request: Request, mode: Mode = "online") -> str:
    """Names of the fields that a model's entry lacks for a request's price to be known."""
    return " and ".join(find_missing_fields(model, request, mode))


def format_entry(model: Model, fields: Mapping[str, Mapping[str, Any]]) -> str:
    """Lines of a model's entry with the missing fields added, to be pasted over the present ones.

    Fields that the entry has beside them, such as another price, stay in these lines.
    """
    present = model.model_dump(mode="json", exclude_unset=True)
    merged: dict[str, Any] = {}
    for addition in fields.values():
        for name, value in addition.items():
            if isinstance(value, Mapping):
                merged[name] = {**present.get(name, {}), **merged.get(name, {}), **value}
            else:
                merged[name] = value
    lines = [f"- name: {model.name}"]
    for name, value in merged.items():
        text = value
        if isinstance(value, Mapping):
            text = yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)
        lines.append(f"  {name}: {text.strip()}  # {_COMMENTS[name]}")
    return "\n".join(lines)


def require_prices(
    model: Model,
    requests: Mapping[str, Request],
    bounds: Mapping[str, int | None],
    mode: Mode = "online",
) -> None:
    """Raise `MissingPrice` where a request, by its key, has no bound, which a budget needs."""
    for key, request in requests.items():
        if bounds[key] is None:
            fields = find_missing_fields(model, request, mode)
            raise MissingPrice(
                f"A budget is set, and what a {'batch' if mode == 'batch' else 'request'} to "
                f"{model.name} may cost is unknown: its entry in models.yaml lacks "
                f"{' and '.join(fields)}. Add that and reload definitions, or lift "
                "the budget. Nothing was sent."
            )

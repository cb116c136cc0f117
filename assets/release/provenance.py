"""Provenance of a release's columns: the assets behind them, with code, models and prompts."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from dagster import AssetKey, TableSchema

from assets.kit.model_lookup import digest_entry
from assets.kit.upstream_calls import collect_calls, find_call_columns
from assets.release.contents import ReleaseSources
from assets.release.parts import AssetPart, list_materialized_parts
from resources.calls import Call
from resources.models.catalog import Catalog
from resources.models.requests import build_canonical_fields


class ModelUse(NamedTuple):
    """A model that answered requests of an asset, and its prompts."""

    name: str
    """Its name in models.yaml; the provider's id where no entry has its parameters."""
    model: str
    """The provider's id."""
    backend: str
    entry_version: str
    """The digest of the entry, as in tables; empty where no entry has its parameters."""
    calls: int
    prompts: int
    """Number of distinct prompts."""
    example: str
    """The first prompt in alphabetical order."""
    prompts_sha256: str
    """Digest of all distinct prompts in alphabetical order, with a NUL after each."""


_Identity: TypeAlias = tuple[str, str, str, str]
"""The name, model, backend and entry version of a `ModelUse`."""


class AssetOrigin(NamedTuple):
    """An asset that a release rests on."""

    key: AssetKey
    description: str
    code_version: str
    parents: Sequence[AssetKey]
    """Assets that it is made from, among those that the release rests on."""
    models: Sequence[ModelUse]


def find_origins(
    sources: ReleaseSources, parts: Iterable[AssetPart], partitions: Sequence[str]
) -> list[AssetOrigin]:
    """Find the materialized assets that made a release's columns, and all upstream, parents first.

    Models are those whose stored answers the materialized tables name; an answer counts for the
    first asset that has it. `partitions` restrict the tables upstream; empty: all.
    """
    graph = sources.graph
    keys = {key for key, _ in parts}
    keys |= {parent for key in keys for parent in graph.get_ancestor_asset_keys(key)}
    made_parts = {key: list_materialized_parts(sources, key, partitions) for key in keys}
    made_keys = {key for key, key_parts in made_parts.items() if key_parts}
    columns = find_call_columns(sources.catalog)
    counted, origins = set[str](), list[AssetOrigin]()
    for key in graph.toposorted_asset_keys:
        if key in made_keys:
            node = graph.get(key)
            calls = _find_call_keys(sources, made_parts[key], columns) - counted
            counted |= calls
            # What follows is a link to the report, for Dagster's page of the asset.
            description, _, _ = (node.description or "").partition("\n\n[")
            origins.append(
                AssetOrigin(
                    key=key,
                    description=description,
                    code_version=node.code_version or "",
                    parents=sorted(node.parent_keys & made_keys),
                    models=_find_models(sources, calls),
                )
            )
    return origins


def _find_call_keys(
    sources: ReleaseSources, parts: Sequence[AssetPart], columns: Mapping[str, str]
) -> set[str]:
    """Find the keys of the stored calls that tables name."""
    schema = sources.graph.get(parts[0][0]).metadata.get("dagster/column_schema")
    described = schema.columns if isinstance(schema, TableSchema) else ()
    names = [column.name for column in described if column.name in columns]
    if not names:
        return set()
    tables = (sources.home.table(*part, names) for part in parts)
    return {call for table in tables for call in collect_calls(table, columns)[0]}


def _find_models(sources: ReleaseSources, keys: Collection[str]) -> list[ModelUse]:
    """Find the models of stored calls, and describe their prompts."""
    prompts, counts = defaultdict[_Identity, set[str]](set), Counter[_Identity]()
    # Without keys the store is left alone: to open it writes its files where there are none yet.
    for call in sources.calls.iterate_calls(keys) if keys else ():
        identity = _identify(sources.catalog, call)
        counts[identity] += 1
        prompts[identity].add(_extract_prompt(call.request["request"]))
    return [
        ModelUse(
            *identity,
            calls=counts[identity],
            prompts=len(texts),
            example=min(texts),
            prompts_sha256=sha256("".join(f"{t}\0" for t in sorted(texts)).encode()).hexdigest(),
        )
        for identity, texts in sorted(prompts.items())
    ]


def _identify(catalog: Catalog, call: Call) -> _Identity:
    """Identify the model of a call by the entry that sends the same parameters."""
    for model in catalog.models:
        fields = build_canonical_fields(model, call.kind, {})
        sent = call.request["parameters"]
        # The backend `folder` adds the picture's file to the parameters.
        parameters = {name: sent[name] for name in fields["parameters"] if name in sent}
        request = {**call.request, "parameters": parameters, "request": {}}
        if request == fields and (parameters == sent or model.backend == "folder"):
            return model.name, model.model, model.backend, digest_entry(model)
    return call.model, call.model, call.backend, ""


def _extract_prompt(request: Mapping[str, Any]) -> str:
    """Join the texts of a request: its turns, or the prompt or text beside its pictures."""
    if "turns" in request:
        return "\n\n".join(turn["text"] for turn in request["turns"])
    return str(request["prompt"] if "prompt" in request else request["text"])

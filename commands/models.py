"""`counterfactory models`."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.model_lists import ModelList, fetch_lists, load_models, split_servers
from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from resources.models.catalog import Catalog, Model
    from resources.models.entry import Price
    from resources.models.entry_drafts import EntryDraft

_HOSTED = ("openai", "gemini", "anthropic")


def models(
    model_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A listed model: prints the entry to add."),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            metavar="NAME|URL",
            help="openai, gemini, anthropic, or a server's address; by default all with a key, and "
            "the servers of models.yaml.",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="VARIABLE", help="Environment variable of a server's key."),
    ] = None,
) -> None:
    """List the models that providers and servers offer, with role, price, and the entry to add.

    Asks for lists alone, which is free. Example:

        counterfactory models gpt-6-luna --backend openai
    """
    from resources.models.fault_explanations import name_server

    catalog = load_models()
    lists = fetch_lists([*_find_askers(catalog, backend, key)])
    for item in lists:
        if item.problem:
            typer.echo(item.problem.sentence, err=True)
        elif not item.models:
            typer.echo(f"{name_server(item.asker)} lists no models.", err=True)
    if not any(item.models for item in lists):
        raise typer.Exit(1)
    if model_id is not None:
        _print_entry(catalog, lists, model_id)
    else:
        for item in lists:
            if not item.problem:
                _print_list(catalog, item)
    if any(item.problem for item in lists):
        raise typer.Exit(1)


def _find_askers(catalog: "Catalog", backend: str | None, key: str | None) -> "Iterator[Model]":
    """Entries by which lists are asked for: one a provider, address and key."""
    from resources.models.fault_explanations import explain_missing_key

    if backend is not None and backend not in _HOSTED and "://" not in backend:
        raise ValueError(
            f"{backend!r} is no provider with a list: name {', '.join(_HOSTED)}, or a server's "
            "address as in http://localhost:8000/v1."
        )
    sources: dict[tuple[str, str | None, str | None], None] = {
        (model.backend, server.base_urls[0] if server.base_urls else None, model.key): None
        for model in catalog.models
        if model.backend in (*_HOSTED, "openai_compatible")
        for server in split_servers(model)
    }
    if backend is not None and "://" in backend:
        entries = [source for source in sources if source[1:] == (backend, key or source[2])]
        sources = dict.fromkeys(entries[:1] or [("openai_compatible", backend, key)])
    elif backend is not None:
        entries = [
            source for source in sources if source[0] == backend and key in (None, source[2])
        ]
        sources = dict.fromkeys(entries or [(backend, None, key)])
    askers = [_build_asker(*source) for source in sources]
    if backend is None:
        names = {asker.backend for asker in askers}
        askers += [_build_asker(name, None, None) for name in _HOSTED if name not in names]
        for asker in askers:
            if asker.backend == "openai_compatible" and not _has_key(asker):
                typer.echo(explain_missing_key(asker).sentence, err=True)
        askers = [asker for asker in askers if _has_key(asker)]
    if not askers:
        raise ValueError(
            "No API key is set: set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY, or name a "
            "server, as in --backend http://localhost:8000/v1."
        )
    yield from askers


def _build_asker(backend: str, address: str | None, variable: str | None) -> "Model":
    from pydantic import ValidationError

    from resources.models.catalog import Model

    fields: dict[str, Any] = {"name": "listing", "model": "listing", "family": "listing"}
    fields["roles"] = ("judge",)
    parameters = {"max_tokens": 1} if backend == "anthropic" else {}
    fields |= {"backend": backend, "base_url": address, "key": variable, "parameters": parameters}
    try:
        return Model.model_validate(fields)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        option = "--key" if problem["loc"][:1] == ("key",) else "--backend"
        words = problem["msg"].removeprefix("Value error, ").rstrip(".")
        raise ValueError(f"{option} {words}.") from None


def _has_key(asker: "Model") -> bool:
    variable = asker.key_variable
    return variable is None or bool(os.environ.get(variable, "").strip())


def _print_list(catalog: "Catalog", item: ModelList) -> None:
    from rich.text import Text

    from resources.models.entry_drafts import draft_entry
    from resources.models.fault_explanations import name_server

    drafts = [draft_entry(item.asker, listed) for listed in item.models]
    offered = [draft for draft in drafts if draft.roles != ()]
    table = build_table(
        "model",
        "likely roles",
        "window>",
        "$ per million in / out",
        "in models.yaml",
        title=name_server(item.asker),
    )
    for draft in sorted(offered, key=lambda draft: draft.listed.id):
        window = draft.listed.context_tokens
        table.add_row(
            Text(draft.listed.id),
            ", ".join(draft.roles or ()) or "unknown",
            f"{window:,}" if window else "",
            _format_price(draft.price),
            ", ".join(_find_entries(catalog, draft)),
        )
    print_table(table)
    if len(offered) < len(drafts):
        typer.echo(f"{len(drafts) - len(offered):,} more have no role here (speech, search, …).")
    typer.echo("Roles come from ids and lists: `counterfactory check NAME` tries them.")


def _format_price(price: "Price | None") -> str:
    if price is None:
        return "unknown"
    if price.per_image:
        return ", ".join(
            f"{size}: {dollars:g} a picture" for size, dollars in price.per_image.items()
        )
    return f"{price.input_per_million:g} / {price.output_per_million:g}"


def _find_entries(catalog: "Catalog", draft: "EntryDraft") -> list[str]:
    """Names of the entries of models.yaml that ask this model at this address."""
    return [
        model.name
        for model in catalog.models
        if (model.backend, model.model) == (draft.asker.backend, draft.listed.id)
        and (draft.asker.base_url in model.base_urls or draft.asker.base_url == model.base_url)
    ]


def _print_entry(catalog: "Catalog", lists: Sequence[ModelList], model_id: str) -> None:
    from generators.name_suggestions import suggest_names
    from resources.models.entry_drafts import draft_entry, format_draft

    matches = [
        draft_entry(item.asker, listed)
        for item in lists
        for listed in item.models
        if listed.id == model_id
    ]
    if not matches:
        ids = [listed.id for item in lists for listed in item.models]
        raise ValueError(f"{model_id!r} is in no list{suggest_names(model_id, ids)}.")
    names = [model.name for model in catalog.models]
    for draft in matches:
        for name in _find_entries(catalog, draft):
            typer.echo(f"# {name} asks it already: a second entry needs other parameters.")
        if draft.roles == ():
            raise ValueError(f"{model_id} has no role here: it is for speech, search or the like.")
        typer.echo(format_draft(draft, names))

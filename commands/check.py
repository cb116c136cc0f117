"""`counterfactory check`."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.completion import complete_models
from commands.environment import open_stores
from commands.model_lists import ModelList, fetch_lists, load_models, split_servers
from commands.options import Budget
from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from assets.kit.entry_check import CheckResult, EntryCheck
    from assets.planning.obstacles import Limits
    from resources.calls.store import CallStore
    from resources.models.catalog import Catalog, Model
    from resources.models.outcomes import Outcome
    from resources.models.requests import Request

_LONGEST_REPLY = 60


def check(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="An entry of models.yaml.", autocompletion=complete_models
        ),
    ],
    budget: Budget = None,
    no_budget: Annotated[
        bool, typer.Option("--no-budget", help="Go ahead without a limit on what it spends.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Ask anew and pay again; earlier answers stay stored.")
    ] = False,
) -> None:
    """Ask an entry one question of each kind that its roles need, and say what works.

    Says first whether key, address and id are right, which is free, and what the questions can
    cost. Asks a paid provider only with a budget. Example:

        counterfactory check gpt_6_luna --budget 0.20
    """
    from assets.kit.entry_changes import suggest_changes
    from assets.kit.entry_check import EntryCheck
    from assets.planning.obstacles import Limits
    from generators.number_picture import draw_number
    from generators.prompts.sampling import sample_concepts
    from resources.faults import MissingPrice, OverBudget
    from resources.models.pricing import is_paid
    from resources.models.requests import compute_call_keys
    from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy

    if no_budget and budget is not None:
        raise typer.BadParameter("Give --budget or --no-budget, not both.")
    model = _find_checkable(load_models(), name)
    listed_ids = _check_servers(model)
    with open_stores(None, "models", "images", "budget") as stores:
        (concept,) = sample_concepts(load_taxonomy(find_taxonomy_path()), "animals", 1)
        picture = draw_number(
            json.dumps([model.backend, model.model, model.parameters], sort_keys=True)
        )
        build = partial(EntryCheck, model, picture, stores.images, concept, listed_ids)
        entry_check = _choose_check(build, stores.models.calls, is_new=again)
        requests = entry_check.list_possible_requests()
        missing = dict(zip(compute_call_keys(model, requests), requests, strict=True))
        for key in stores.models.calls.holds(missing):
            del missing[key]
        limits = Limits(budget, stores.budget.per_run_usd, stores.budget.per_month_usd)
        is_allowed = no_budget or limits.has_any
        firm = [question.request for question in entry_check.questions]
        is_stored = missing.keys().isdisjoint(compute_call_keys(model, firm))
        asking = _Asking(model, stores, limits)
        results = None
        if is_stored and is_paid(model) and not is_allowed:
            # What is stored is shown for free, and nothing else is asked.
            asking = _Asking(model, stores, limits._replace(total=0.0))
            with suppress(OverBudget, MissingPrice):
                results = entry_check.run(asking.ask)
        if results is None:
            if not _may_spend(model, missing, limits, allowed=is_allowed):
                return
            results = entry_check.run(asking.ask)
        _print_results(results, asking, stores)
    _print_changes(model, suggest_changes(model, results, listed_ids))
    if any(result.problem for result in results):
        raise typer.Exit(1)


def _choose_check(
    build: "Callable[[int], EntryCheck]", calls: "CallStore", *, is_new: bool
) -> "EntryCheck":
    """Build the check with the last stored answers, or one that has none yet."""
    from resources.models.requests import compute_call_keys

    def has_answers(sample: int) -> bool:
        check = build(sample)
        keys = compute_call_keys(check.model, check.list_possible_requests())
        return bool(calls.holds(keys))

    sample = next(sample for sample in count() if not has_answers(sample))
    return build(sample if is_new else max(sample - 1, 0))


class _Asking:
    """Questions to a model through the call store, and what they came to in all."""

    def __init__(self, model: "Model", stores: Any, limits: "Limits") -> None:
        from resources.calls.spending import Account

        self.model, self._stores = model, stores
        self._account = Account(
            asset="check",
            run=f"check {datetime.now(UTC).isoformat()}",
            per_run=limits._replace(per_month_usd=None).smallest,
            per_month=limits.per_month_usd,
        )
        self.already_stored = 0

    def ask(self, requests: "Sequence[Request]") -> "Sequence[Outcome]":
        """Ask once, without second attempts: what fails is an outcome, also where nothing came."""
        from resources.faults import RequestsStopped
        from resources.models.outcomes import FailedOutcome, read_outcome
        from resources.models.requests import compute_call_keys

        log = logging.getLogger(__name__)
        try:
            result = self._stores.models.ask(
                self.model, requests, log, self._account, max_attempts=1
            )
        except RequestsStopped as stopped:
            if not stopped.provider_words:
                raise
            keys = compute_call_keys(self.model, requests)
            answers = self._stores.models.calls.find_answers(keys)
            failed = FailedOutcome("unacceptable", stopped.provider_words, 1)
            return [
                read_outcome(answers[key], request) if key in answers else failed
                for key, request in zip(keys, requests, strict=True)
            ]
        self.already_stored += result.already_stored
        outcomes: Sequence[Outcome] = result.outcomes
        return outcomes


def _find_checkable(catalog: "Catalog", name: str) -> "Model":
    from generators.name_suggestions import suggest_names

    names = [model.name for model in catalog.models]
    if name not in names:
        raise ValueError(f"{name!r} is not in {catalog.path}{suggest_names(name, names)}.")
    model = catalog.models[names.index(name)]
    if model.is_free or model.backend == "file":
        raise ValueError(f"{name} is asked nothing: a stand-in, or files. Check another entry.")
    if set(model.roles) == {"encoder"}:
        raise ValueError(f"{name} is asked nothing: attacks use its encoder. Check another entry.")
    return model


def _check_servers(model: "Model") -> list[str]:
    """List the ids of the entry's servers; exits where none of them can be asked."""
    from resources.models.backend_names import LOCAL_BACKENDS
    from resources.models.fault_explanations import HOPELESS

    if model.backend in LOCAL_BACKENDS:
        return []
    lists = fetch_lists([*split_servers(model)])
    problems = [item.problem for item in lists if item.problem]
    for problem in problems:
        unread = "" if problem.cause in HOPELESS else "There is no list of models to read: "
        typer.echo(f"{unread}{problem.sentence}", err=True)
    if len(problems) == len(lists) and all(problem.cause in HOPELESS for problem in problems):
        typer.echo("No question was sent.", err=True)
        raise typer.Exit(1)
    for item in lists:
        _print_listing(item)
    return [listed.id for item in lists for listed in item.models]


def _print_listing(item: ModelList) -> None:
    """Say whether a server lists the entry's model; nothing where it has no list."""
    from generators.name_suggestions import find_similar
    from resources.models.fault_explanations import name_server

    name, server = item.asker.model, name_server(item.asker)
    listed = next((model for model in item.models if model.id == name), None)
    if listed is not None:
        window = listed.context_tokens and f", with a window of {listed.context_tokens:,} tokens"
        typer.echo(f"{server} lists {name}{window or ''}.")
    elif item.models:
        similar = find_similar(name, [model.id for model in item.models])
        meant = f": did you mean {similar[0]}?" if similar else "."
        typer.echo(f"{server} lists {len(item.models):,} models, and {name} is not one{meant}")


def _may_spend(
    model: "Model", requests: "Mapping[str, Request]", limits: "Limits", *, allowed: bool
) -> bool:
    """Quote the questions without an answer; False where they need a budget and have none."""
    from resources.models.price_gaps import find_missing_fields, format_entry
    from resources.models.pricing import compute_cost_bound, is_paid, to_dollars

    bounds = [compute_cost_bound(model, request) for request in requests.values()]
    finite_bounds = [bound for bound in bounds if bound is not None]
    total = f"At most {len(bounds):,} questions"
    if len(finite_bounds) == len(bounds):
        typer.echo(f"{total}, for at most ${to_dollars(sum(finite_bounds)):,.4f}.")
    elif not is_paid(model) and not limits.has_any:
        typer.echo(f"{total}.")
    else:
        fields: dict[str, Mapping[str, Any]] = {}
        for request in requests.values():
            fields |= find_missing_fields(model, request)
        typer.echo(f"{total}, at an unknown price: the entry lacks")
        typer.echo(format_entry(model, fields))
    if allowed or not is_paid(model):
        return True
    typer.echo("No question was sent. Give --budget USD, the most that it may spend.")
    return False


def _print_results(results: "Sequence[CheckResult]", asking: _Asking, stores: Any) -> None:
    from rich.text import Text

    from assets.kit.entry_check import describe_outcome
    from resources.models.outcomes import FailedOutcome
    from resources.models.pricing import compute_cost, to_dollars
    from resources.models.requests import compute_call_keys

    model = asking.model
    keys = compute_call_keys(model, [result.question.request for result in results])
    seconds = stores.models.calls.find_durations(keys)
    table = build_table("question", "result", "reply", "seconds>", "tokens>", "cost>")
    costs: dict[str, int | None] = {}
    for key, result in zip(keys, results, strict=True):
        verdict = "works" if result.problem is None else "does not"
        cells = [result.question.title, f"{verdict}{result.remark and f': {result.remark}'}"]
        reply = Text(describe_outcome(result.outcome, stores.images))
        reply.truncate(_LONGEST_REPLY, overflow="ellipsis")
        if key in costs or isinstance(result.outcome, FailedOutcome):
            table.add_row(*cells, reply)
            continue
        # A local model is billed by the time that it worked.
        usage = replace(result.outcome.usage, gpu_seconds=seconds.get(key))
        costs[key] = cost = compute_cost(model, result.question.request, usage)
        counts = (usage.input_tokens, usage.output_tokens)
        table.add_row(
            *cells,
            reply,
            f"{seconds[key]:.1f}" if key in seconds else "",
            " + ".join("?" if count is None else f"{count:,}" for count in counts),
            "unknown" if cost is None else f"${to_dollars(cost):,.6f}",
        )
    print_table(table)
    if asking.already_stored:
        typer.echo(f"{asking.already_stored:,} answers were stored before: --again asks anew.")
    served = (getattr(result.outcome, "served_model", None) for result in results)
    for other in dict.fromkeys(name for name in served if name and name != model.model):
        typer.echo(f"Answers came from {other}, where {model.model} was asked.")
    for sentence in dict.fromkeys(filter(None, (result.problem for result in results))):
        typer.echo(sentence)


def _print_changes(model: "Model", changes: Mapping[str, Any]) -> None:
    if changes:
        typer.echo("\nChange in models.yaml, and check again:")
        typer.echo(format_fields({"name": model.name, **changes}))


def format_fields(fields: Mapping[str, Any]) -> str:
    """Fields of an entry of models.yaml, one a line."""
    import yaml

    lines = [
        f"{name}: {yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)}"
        for name, value in fields.items()
    ]
    entry = "\n  ".join(line.removesuffix("\n").removesuffix("\n...") for line in lines)
    return f"- {entry}"

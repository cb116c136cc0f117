"""`counterfactory compare`."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from commands.completion import complete_judges
from commands.environment import open_stores
from commands.options import Budget
from commands.runs import load_limits

if TYPE_CHECKING:
    from assets.kit.comparison_items import ComparisonItem
    from assets.planning.obstacles import Limits
    from resources.models.catalog import Model
    from resources.models.requests import LookRequest, ScoreRequest

ITEMS = 50


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A judge or metric.", autocompletion=complete_judges),
    ],
    second: Annotated[
        str,
        typer.Argument(
            metavar="OTHER",
            help="Another entry of the same weights, such as a served one.",
            autocompletion=complete_judges,
        ),
    ],
    items: Annotated[
        int, typer.Option("--items", min=1, max=10_000, metavar="N", help="Questions, one a scene.")
    ] = ITEMS,
    budget: Budget = None,
    no_budget: Annotated[
        bool, typer.Option("--no-budget", help="Go ahead without a limit on what it spends.")
    ] = False,
) -> None:
    """Ask two entries of one model the same questions, and say how far they agree.

    Each is asked one by one, then all at once, which shows whether its answers depend on what
    else it is asked. Asks a paid provider only with a budget. Example:

        counterfactory compare llava llava_on_vllm
    """
    from assets.kit.comparison_items import choose_items
    from assets.kit.judge_tasks import find_judge
    from assets.kit.model_comparison import format_comparison, measure
    from definitions import catalog
    from resources.calls.spending import Account
    from resources.models.server_comparison import ask_twice, record_comparison

    if no_budget and budget is not None:
        raise typer.BadParameter("Give --budget or --no-budget, not both.")
    models = [find_judge(catalog, name) for name in (first, second)]
    _require_comparable(models)
    limits, started = load_limits(budget), datetime.now(UTC)
    with open_stores(None) as stores:
        chosen = choose_items(stores.home, stores.images, items)
        requests = [_build_request(models[0], item) for item in chosen.items]
        if not _may_spend(models, requests, limits, allowed=no_budget or budget is not None):
            return
        account = Account(
            asset="compare",
            run=f"compare {started.isoformat()}",
            per_run=limits._replace(per_month_usd=None).smallest,
            per_month=limits.per_month_usd,
        )
        log, sample = logging.getLogger(__name__), int(started.timestamp() * 1e6)
        replies, other_replies = (
            ask_twice(stores.models, model, requests, sample, log, account) for model in models
        )
        measurement = measure(replies, other_replies, chosen.items)
        typer.echo("\n".join(format_comparison(replies, other_replies, chosen.source, measurement)))
        record = measurement.to_record()
        path = record_comparison(
            stores.home.path(), (replies, other_replies), chosen.source, record, started
        )
        typer.echo(f"Recorded in {path}.")


def _require_comparable(models: "Sequence[Model]") -> None:
    are_metrics = {"metric" in model.roles for model in models}
    if models[0] == models[1] or len(are_metrics) > 1:
        name, other_name = (model.name for model in models)
        raise ValueError(
            f"{name} and {other_name} cannot be compared: name two entries, both judges or both "
            "metrics."
        )
    for model in models:
        if model.is_stand_in or model.backend == "file":
            raise ValueError(
                f"{model.name} is of the backend {model.backend}, which asks no model: "
                "name another entry."
            )


def _build_request(model: "Model", item: "ComparisonItem") -> "LookRequest | ScoreRequest":
    from resources.models.requests import LookRequest, ScoreRequest, Turn

    if "metric" in model.roles:
        return ScoreRequest(item.question, item.sha256)
    return LookRequest((Turn("user", item.question, (item.sha256,)),))


def _may_spend(
    models: "Sequence[Model]",
    requests: "Sequence[LookRequest | ScoreRequest]",
    limits: "Limits",
    *,
    allowed: bool,
) -> bool:
    """Quote what a provider is paid; False where that needs a budget and there is none."""
    from resources.models.pricing import compute_cost_bound, is_paid, to_dollars

    paid = [model for model in models if is_paid(model)]
    for model in paid:
        bounds = [compute_cost_bound(model, request) for request in requests]
        bounded = [bound for bound in bounds if bound is not None]
        total = (
            "unbounded (no price)"
            if len(bounded) < len(bounds)
            else (f"at most ${2 * to_dollars(sum(bounded)):,.2f}")
        )
        typer.echo(f"{model.name}: {2 * len(requests):,} requests, {total}.")
    if not paid or allowed or limits.has_any:
        return True
    typer.echo("Nothing was sent. Give --budget USD, the most that it may spend, or --no-budget.")
    return False

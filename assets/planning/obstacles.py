"""Obstacles that a quote reveals: each run would fail before sending anything."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from assets.kit.model_lookup import NoSuchModel
from assets.kit.partitions import find_partition_painter, list_painters
from assets.kit.plan import PlanContext
from assets.kit.step import Step, Steps
from assets.kit.step_planner import build_step_planners
from assets.planning.lines import QuoteLine, quote_tasks
from assets.planning.quote_selection import Task, to_planned_configs
from assets.planning.quote_text import list_refused
from resources.calls.spending import NANO
from resources.faults import KeyNotSet, StoreError
from resources.models.backend_pool import load_api_key
from resources.models.catalog import Model
from resources.models.price_gaps import format_entry
from resources.models.pricing import compute_cost_bound


class CannotBegin(ValueError):
    """Runs that would fail before they send anything; the message has every remedy."""


class Limits(NamedTuple):
    """Budgets in US dollars that hold for runs; None is no limit."""

    total: float | None = None
    per_run_usd: float | None = None
    per_month_usd: float | None = None

    @property
    def has_any(self) -> bool:
        """True if any budget is set, so that prices have to be known."""
        return any(limit is not None for limit in self)

    @property
    def smallest(self) -> float | None:
        """The budget that allows for the least."""
        return min((limit for limit in self if limit is not None), default=None)


def find_obstacles(totals: Iterable[QuoteLine], limits: Limits) -> Iterator[str]:
    """Remedies for all that keeps models from being asked, by the totals of a quote by model.

    A model that has all its answers needs neither key nor price.
    """
    for total in totals:
        if total.to_send or total.follow_ups:
            yield from _compare_with_limits(total, limits)


def require_no_obstacles(totals: Iterable[QuoteLine], limits: Limits) -> None:
    """Raise `CannotBegin` with all obstacles at once, where there are any."""
    if obstacles := [*find_obstacles(totals, limits)]:
        raise CannotBegin("\n".join([*obstacles, "Nothing was begun or sent."]))


def require_tasks_possible(
    steps: Steps, sources: PlanContext, tasks: Sequence[Task], limits: Limits
) -> None:
    """Raise `CannotBegin` where tasks would ask models that have no key, or no price for a budget.

    Raises it as well for pictures of a painter that was removed from models.yaml.
    Only tasks of such models are quoted, since most selections have none. What cannot be quoted is
    left to its run, which says why.
    """
    _require_painters(steps, tasks)
    doubtful = [task for task in tasks if task.asset in steps and _is_doubtful(steps, task, limits)]
    if not doubtful:
        return
    try:
        asking = build_step_planners({task.asset: steps[task.asset] for task in doubtful})
        totals = quote_tasks(
            asking, sources.with_planned(to_planned_configs(tasks)), doubtful
        ).totals
    except (StoreError, ValueError):
        return
    require_no_obstacles(totals, limits)


def _require_painters(steps: Steps, tasks: Sequence[Task]) -> None:
    """Raise `CannotBegin` for tasks whose painter has no entry, with the partitions of others.

    A partition stays where its painter was removed, since it has what that has painted.
    """
    lacking: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.asset in steps and (painter := _find_removed_painter(steps[task.asset], task)):
            path = steps[task.asset].catalog.path
            lacking[f"{painter} is no painter in {path}."].append(task)
    if not lacking:
        return
    removed = {task.partition for removed_tasks in lacking.values() for task in removed_tasks}
    others = dict.fromkeys(task.partition for task in tasks if task.partition not in removed | {""})
    remedy = f", or leave it out: --partitions '{','.join(others)}'" if others else ""
    lines = [f"{source}: {reason}" for source, reason in list_refused(lacking)]
    lines += [f"Add its entry again{remedy}.", "Nothing was begun or sent."]
    raise CannotBegin("\n".join(lines))


def _find_removed_painter(step: Step[Any], task: Task) -> str | None:
    """Find the painter whose entry a task needs and lacks; None where it lacks none."""
    try:
        step.model(task.partition, step.config(**task.config))
    except NoSuchModel:
        painter = find_partition_painter(task.partition, step.asset.partitions)
        return None if painter in list_painters(step.catalog) else painter
    except ValueError:
        return None
    return None


def _is_doubtful(steps: Steps, task: Task, limits: Limits) -> bool:
    step = steps[task.asset]
    try:
        model = step.model(task.partition, step.config(**task.config))
    except ValueError:
        return False
    if model is None or step.example_request is None:
        return False
    is_unpriced = limits.has_any and compute_cost_bound(model, step.example_request) is None
    return is_unpriced or _describe_missing_key(model) is not None


def _compare_with_limits(total: QuoteLine, limits: Limits) -> Iterator[str]:
    model, price = total.model, total.prices["online"]
    if (problem := _describe_missing_key(model)) is not None:
        yield problem
    if not limits.has_any:
        return
    if price.missing_fields:
        lines = textwrap.indent(format_entry(model, price.missing_fields), "    ")
        yield (
            f"{model.name}: a budget needs to know the most that a request can cost. Its entry in "
            f"models.yaml lacks {' and '.join(price.missing_fields)}. Write:\n{lines}"
        )
    budget = limits.smallest
    if (
        budget is not None
        and price.smallest_bound is not None
        and budget * NANO < price.smallest_bound
    ):
        yield (
            f"{model.name}: the budget is ${budget:,.4f}, and its cheapest request can cost up to "
            f"${price.smallest_bound / NANO:,.4f}, so that none could be sent. Raise the budget, "
            f"or lower "
            "the limit on answers in models.yaml (longest_output, or the parameter)."
        )


def _describe_missing_key(model: Model) -> str | None:
    try:
        load_api_key(model)
    except KeyNotSet as unset:
        return str(unset).removesuffix("\nNothing was sent.")
    return None

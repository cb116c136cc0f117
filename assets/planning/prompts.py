"""Lists of prompts for painters without an API: a cluster, a web page, a person."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from assets.kit.plan import PlanContext
from assets.kit.step import Steps
from assets.kit.step_planner import build_step_planners
from assets.planning.quote_selection import CannotQuote, Task, to_planned_configs
from resources.models.catalog import Model
from resources.models.manifests import MANIFEST_COLUMNS
from resources.models.requests import PaintRequest, compute_call_keys, is_painted


class ListedPrompt(NamedTuple):
    """A picture to be painted; the `file` is a name for it. These are a manifest's columns."""

    prompt: str
    seed: int | None
    sample: int
    file: str


class PromptList(NamedTuple):
    """Prompts to paint, one for each picture.

    `follow_ups` counts those that depend on replies not yet received; `refused` names the assets
    to materialize first.
    """

    prompts: list[ListedPrompt]
    follow_ups: int
    refused: list[str]


assert ListedPrompt._fields == MANIFEST_COLUMNS


def list_prompts(
    steps: Steps, sources: PlanContext, tasks: Sequence[Task], *, missing: bool
) -> PromptList:
    """List the pictures that partitions of assets need painted; nothing is sent.

    With `missing`, only those without an answer and without a file in the manifest of their
    painter. Raises `CannotQuote` where nothing that is selected is painted.
    """
    sources, plans_of = (
        sources.with_planned({**sources.planned_configs, **to_planned_configs(tasks)}),
        build_step_planners(steps),
    )
    painting = [
        task for task in tasks if isinstance(steps[task.asset].example_request, PaintRequest)
    ]
    if not painting:
        raise CannotQuote("No selected asset is painted. Select assets that a painter makes.")
    prompts: dict[ListedPrompt, None] = {}
    later, without = 0, dict[str, None]()
    for task in painting:
        for plan in plans_of[task.asset](sources, task.partition, task.config):
            if plan.missing_asset is not None:
                without[plan.missing_asset] = None
            requests = [request for request in plan.requests if isinstance(request, PaintRequest)]
            later += sum(isinstance(request, PaintRequest) for request in plan.possible_requests)
            selected_requests: Iterable[PaintRequest] = requests
            if missing:
                selected_requests = _iterate_missing(sources, plan.model, requests)
            prompts.update(dict.fromkeys(map(_prompt, selected_requests)))
    return PromptList(list(prompts), later, list(without))


def _iterate_missing(
    sources: PlanContext, model: Model, requests: Sequence[PaintRequest]
) -> Iterator[PaintRequest]:
    keys = compute_call_keys(model, requests)
    stored = sources.calls.holds(keys)
    for key, request in zip(keys, requests, strict=True):
        if key not in stored and not (model.may_lack_answers and is_painted(model, request)):
            yield request


def _prompt(request: PaintRequest) -> ListedPrompt:
    """A name of its own for each picture, the same in every list."""
    identity = "\0".join(map(str, (request.prompt, request.seed, request.sample)))
    name = f"{sha256(identity.encode()).hexdigest()[:16]}.png"
    return ListedPrompt(prompt=request.prompt, seed=request.seed, sample=request.sample, file=name)

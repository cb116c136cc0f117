"""What is planned, and what a run then sends, in the same terms: the keys of calls."""

from contextlib import closing, contextmanager
from types import SimpleNamespace

import dagster as dg
from dagster import AssetKey

from assets.kit.benchmarks import build_definitions
from assets.kit.benchmarks import build_planners as planners
from assets.kit.collections import collection_asset, load_listed_collections
from assets.kit.plan import PlanContext
from assets.planning import Task, quote_tasks
from resources.calls import CallStore
from resources.models.catalog import Catalog
from resources.models.requests import build_canonical_request, compute_call_key
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.asked import JUDGE
from tests.runs import TOPIC, of_modules

_LAST = {}


def definitions_of(catalog):
    """By key, the assets that a code location with those models has; kept for the last models."""
    which = str(catalog)
    if which not in _LAST:
        made = [each for each in of_modules() if isinstance(each, dg.AssetsDefinition)]
        made += [
            each for each in build_definitions(catalog) if isinstance(each, dg.AssetsDefinition)
        ]
        made += map(collection_asset, load_listed_collections().values())
        _LAST.clear()
        _LAST[which] = {key: each for each in made for key in each.keys}
    return _LAST[which]


@contextmanager
def plan_context(root):
    """What planners read, below `root`."""
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        yield PlanContext(
            DataRoot(root=str(root)), ImageStore(root=str(root)), WorkCache(root=str(root)), calls
        )


def stored(root):
    """The keys of all calls that are stored."""
    with plan_context(root) as sources:
        return set(sources.calls.iterate_keys())


def quoted(root, model, *prompting, topics=(TOPIC,)):
    """The quote for a judge's answers."""
    config = {"prompting": list(prompting)} if prompting else {}
    tasks = [Task(AssetKey(["vlmbias", *JUDGE.split("/")]), topic, config) for topic in topics]
    with plan_context(root) as sources:
        return quote_tasks(planners(Catalog((model,))), sources, tasks)


def planned(root, model, *prompting, **config):
    """What a judge's planner plans: `certain` and `missing` are keys, `later` is a number."""
    asset = AssetKey(["vlmbias", *JUDGE.split("/")])
    planner = planners(Catalog((model,)))[asset]
    with plan_context(root) as sources:
        (plan,) = planner(sources, TOPIC, {"prompting": list(prompting), **config})
        certain = {
            compute_call_key(build_canonical_request(model, request)) for request in plan.requests
        }
        later = len(list(plan.possible_requests))
        missing = certain - sources.calls.holds(certain)
    return SimpleNamespace(certain=certain, missing=missing, later=later)

"""Results of judges in a release: numbers that the report ranks, with the answers behind them."""

from collections.abc import Iterator, Mapping, Sequence

from dagster import AssetKey

from assets.kit.benchmarks import Benchmark
from assets.kit.leaderboards import Leaderboard, ScoredSample
from assets.release.contents import JudgeResult, ReleaseSources, Results, TaskResult
from assets.report.standings import FILE, JudgeResults, Standing
from resources.execution.dagster_internals import Staleness
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

_REPORT = "report"


def find_results(
    benchmark: Benchmark, sources: ReleaseSources, partitions: Sequence[str]
) -> Results:
    """Find the results of a benchmark's judges in its report, for the released partitions.

    There are none where the report is not materialized or out of date, which `omissions` says.
    """
    leaderboard = benchmark.leaderboard
    if leaderboard is None:
        return Results()
    key = AssetKey([benchmark.name, _REPORT])
    path = sources.home.path(_REPORT, benchmark.name, FILE)
    if not path.is_file():
        return Results(omissions=[f"No results: {key.to_user_string()} is not materialized."])
    if not Staleness(sources.instance, sources.graph).is_fresh(key, None):
        return Results(
            omissions=[
                f"No results: {key.to_user_string()} is out of date. Materialize it and what it is "
                "made from again."
            ]
        )
    published = JudgeResults.read(path.read_text(encoding="utf-8"))
    return select_results(leaderboard, published, sources.home, sources.catalog, partitions)


def select_results(
    leaderboard: Leaderboard,
    published: JudgeResults,
    home: DataRoot,
    catalog: Catalog,
    partitions: Sequence[str],
) -> Results:
    """Select the published numbers that are results about the released partitions alone."""
    (measure,) = (item for item in published.measures if item.name == leaderboard.measure)
    models = {model.name: model for model in catalog.models}
    tasks, omissions = dict[str, list[TaskResult]](), list[str]()
    for task, standing in _match_standings(leaderboard, published, partitions):
        reason, samples = _describe_obstacle(standing, models), list[ScoredSample]()
        if not reason:
            judge = models[standing.model]
            samples = [*leaderboard.load_samples(home, judge, standing.scope)]
            others = {sample.partition for sample in samples}.difference(partitions)
            if others:
                reason = f"its number is also about {', '.join(sorted(others))}"
        if reason:
            omissions.append(f"No result of {standing.model} in {task}: {reason}.")
            continue
        result = TaskResult(task=task, measure=measure, standing=standing, samples=samples)
        tasks.setdefault(standing.model, []).append(result)
    judges = [JudgeResult(judge=models[name], tasks=tasks[name]) for name in sorted(tasks)]
    return Results(judges=judges, omissions=omissions)


def _match_standings(
    leaderboard: Leaderboard, published: JudgeResults, partitions: Sequence[str]
) -> Iterator[tuple[str, Standing]]:
    for task, scope in leaderboard.list_tasks(partitions).items():
        for standing in published.standings:
            if standing.measure == leaderboard.measure and standing.scope == scope:
                yield task, standing


def _describe_obstacle(standing: Standing, models: Mapping[str, Model]) -> str:
    """Describe why a number is no result; empty for a result."""
    if standing.firmness != "result":
        return standing.firmness + (f" ({standing.note})" if standing.note else "")
    if standing.model not in models:
        return "models.yaml no longer lists it"
    return "" if standing.value is not None else f"it has no number: {standing.note}"

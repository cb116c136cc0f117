"""A benchmark of judges' answers to one step, from its declared report."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dagster import AssetKey

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.collections import CollectionSets
from assets.kit.judging import select_judges
from assets.kit.step import Step
from assets.report.judge_report import JudgeReport
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot


def build_judge_benchmark(
    report: JudgeReport,
    *,
    evaluation_version: str,
    stand_in_assets: Sequence[str],
    assets: Callable[[], Iterable[Definition]] = lambda: (),
    sets: CollectionSets | None = None,
    **others: Any,
) -> Benchmark:
    """Build the benchmark of a report: its step for each judge, the results, report and demo.

    `assets` builds those that depend on other benchmarks. `stand_in_assets` are made before the
    stand-in judges answer. With `sets`, a partition is a collection: without one there are no
    assets, and the demo has the collection that comes along and counts what is taken of it.
    `others` are further fields of `Benchmark`.
    """
    results = report.results
    step, group = results.step, results.key.path[0]
    list_partitions = sets.list_samples if sets else results.list_partitions
    if sets:
        others["summarize_demo"] = lambda home, painter: [
            {"set": name, step.unit: _count_taken(home, name)} for name in sets.list_samples()
        ]

    def _count_taken(home: DataRoot, name: str) -> int:
        rows = home.table(AssetKey([group, stand_in_assets[0]]), name)
        return len(rows[rows["outcome"].eq("taken")].drop_duplicates([*step.item_columns]))

    def plan_stand_ins(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
        judges = select_judges(catalog, step.stand_in_answers)
        answers = [f"answers_{judge.name}" for judge in judges if judge.is_stand_in]
        partitions = list_partitions()
        for partition in partitions:
            yield StandInRun((*stand_in_assets, *answers), partition)
        if partitions:
            yield StandInRun((results.name, "report"))

    def has_items() -> bool:
        return sets is None or bool(sets.load())

    def build_steps(catalog: Catalog) -> list[Step[Any]]:
        judges = select_judges(catalog, step.stand_in_answers) if has_items() else ()
        return [step(catalog, judge) for judge in judges]

    def build_assets(catalog: Catalog) -> list[Definition]:
        judges = select_judges(catalog, step.stand_in_answers)
        return [*assets(), results.build_asset(judges), report.build_asset(judges)]

    return Benchmark(
        name=group,
        title=report.title,
        question=report.question,
        evaluation_version=evaluation_version,
        has_items=has_items,
        steps=build_steps,
        assets=build_assets,
        stand_in_runs=plan_stand_ins,
        **others,
    )

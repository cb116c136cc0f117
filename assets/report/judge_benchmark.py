"""A benchmark of judges' answers to one step, from its declared report."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.judging import select_judges
from assets.kit.step import Step
from assets.report.judge_report import JudgeReport
from resources.models.catalog import Catalog


def build_judge_benchmark(
    report: JudgeReport,
    *,
    evaluation_version: str,
    assets: Callable[[], Iterable[Definition]] = lambda: (),
    stand_in_assets: Sequence[str] = (),
    list_stand_in_partitions: Callable[[], Sequence[str | None]] | None = None,
    has_items: Callable[[], bool] = lambda: True,
    **others: Any,
) -> Benchmark:
    """Build the benchmark of a report: its step for each judge, the results, report and demo.

    `assets` builds those that depend on other benchmarks. `stand_in_assets` are made before the
    stand-in judges answer, in the listed partitions, or in all; without any, the demo leaves the
    benchmark out. `others` are further fields of `Benchmark`.
    """
    results = report.results
    step, group = results.step, results.key.path[0]

    def plan_stand_ins(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
        judges = select_judges(catalog, step.stand_in_answers)
        answers = [f"answers_{judge.name}" for judge in judges if judge.is_stand_in]
        list_partitions = list_stand_in_partitions or results.list_partitions
        partitions = list_partitions() if stand_in_assets else ()
        for partition in partitions:
            yield StandInRun((*stand_in_assets, *answers), partition)
        if partitions:
            yield StandInRun((results.name, "report"))

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

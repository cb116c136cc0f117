"""The asset `reports/front_page`."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import perf_counter
from types import MappingProxyType

from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)

from assets.front.conditions import collect_conditions
from assets.front.gaps import describe_gap
from assets.kit.benchmarks import load_used_benchmarks
from assets.kit.judge_tasks import JudgeTaskFinder, list_judges
from assets.kit.plan import PlanContext
from assets.kit.table_asset import OWNERS
from assets.planning import CellQuotes
from assets.planning.quote_selection import AssetsByKey
from assets.report.links import build_report_link
from assets.report.roster import Kind, Listed, Planned, Roster
from assets.report.standings import JudgeResults
from assets.report.start_page import read_judge_results, write_start_page
from resources.faults import write_errors
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

FRONT_PAGE = AssetKey(["reports", "front_page"])


def build_front_page(catalog: Catalog, assets: Callable[[], AssetsByKey]) -> AssetsDefinition:
    """The asset `reports/front_page` of all judges and metrics; `assets` gives those there are."""

    @asset(
        key=FRONT_PAGE,
        group_name="reports",
        owners=OWNERS,
        kinds={"python", "html"},
        deps=[AssetDep(AssetKey([name, "report"])) for name in load_used_benchmarks()],
        description="One row per judge or metric, with what each benchmark found of it, what was "
        "not run and what that would cost, and a page of each. Published below the data root, in "
        "report/index.html. It sends nothing.\n\n"
        f"[Open the front page]({build_report_link('').value})",
        code_version="1",
    )
    def front_page(
        context: AssetExecutionContext,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
    ) -> MaterializeResult[None]:
        started = perf_counter()
        task_finder = JudgeTaskFinder(catalog, home, context.instance, assets())
        folder = home.path("report")
        sources = PlanContext(home=home, images=images, work_cache=work_cache, calls=models.calls)
        roster = build_roster(task_finder, sources, read_judge_results(folder))
        with write_errors(folder):
            roster.write(folder)
            published = write_start_page(folder)
        return MaterializeResult(
            data_version=DataVersion(published.version),
            metadata={
                "report": build_report_link(""),
                "path": MetadataValue.path(str(published.page)),
                "judges": len(roster.judges),
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return front_page


def build_roster(
    task_finder: JudgeTaskFinder,
    sources: PlanContext,
    judge_results: Mapping[str, JudgeResults] = MappingProxyType({}),
) -> Roster:
    """Build the list of judges and metrics, with what would fill their empty cells by benchmark.

    `judge_results` are those on each benchmark's site: nothing is planned for a complete one.
    """
    cells, judges = CellQuotes(task_finder, sources), list_judges(task_finder.catalog)
    subject_models = {
        (model.name, key.path[0])
        for key, step in task_finder.steps.items()
        if (model := step.asset.subject_model) is not None
    }
    return Roster(
        date=datetime.now(UTC).date().isoformat(),
        judges=[Listed(judge.name, _kind(judge), _format_model_id(judge)) for judge in judges],
        benchmarks=[
            Planned(benchmark.name, benchmark.title)
            for benchmark in load_used_benchmarks().values()
        ],
        gaps={
            judge.name: {
                name: describe_gap(
                    cells.quote_cell(judge, benchmark), asks=(judge.name, name) in subject_models
                )
                for name, benchmark in load_used_benchmarks().items()
                if not judge_results.get(name, JudgeResults()).covers(judge.name)
            }
            for judge in judges
            if not judge.is_stand_in
        },
        conditions=collect_conditions(task_finder),
    )


def _kind(judge: Model) -> Kind:
    if judge.is_stand_in:
        return "stand_in"
    return "judge" if "judge" in judge.roles else "metric"


def _format_model_id(judge: Model) -> str:
    """The model as its provider names it, where the entry's name does not say so."""
    return "" if judge.model == judge.name else f"{judge.backend}: {judge.model}"

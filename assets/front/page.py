"""The asset `reports/front_page`."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
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

from assets.front.gaps import gap_of
from assets.kit.benchmarks import benchmarks
from assets.kit.judged import Judged, judges_in
from assets.kit.plan import PlanContext
from assets.kit.table_asset import OWNERS
from assets.planning import Cells
from assets.planning.choice import Assets
from assets.report.roster import Kind, Listed, Planned, Roster
from assets.report.standings import Judged as Told
from assets.report.start_page import judged_in, write_start_page
from resources.faults import writing
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient

FRONT_PAGE = AssetKey(["reports", "front_page"])


def front_page_over(catalog: Catalog, assets: Callable[[], Assets]) -> AssetsDefinition:
    """The asset `reports/front_page` of all judges and metrics; `assets` gives those there are."""

    @asset(
        key=FRONT_PAGE,
        group_name="reports",
        owners=OWNERS,
        kinds={"python", "html"},
        deps=[AssetDep(AssetKey([name, "report"])) for name in benchmarks()],
        description="One row a judge or metric, with what each benchmark found of it, what was not "
        "run and what that would cost, and a page of each. Published below the data root, in "
        "report/index.html. It sends nothing.",
        code_version="1",
    )
    def front_page(
        context: AssetExecutionContext,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
        models: ModelClient,
    ) -> MaterializeResult[None]:
        started = perf_counter()
        judged = Judged(catalog, home, context.instance, assets())
        folder = Path(home.root) / "report"
        sources = PlanContext(home, images, ledger, models.calls)
        roster = roster_of(judged, sources, judged_in(folder))
        with writing(folder):
            roster.write(folder)
            index = write_start_page(folder)
        return MaterializeResult(
            data_version=DataVersion(sha256(index.read_bytes()).hexdigest()),
            metadata={
                "path": MetadataValue.path(str(index)),
                "address": MetadataValue.path(index.as_uri()),
                "judges": len(roster.judges),
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return front_page


def roster_of(
    judged: Judged, sources: PlanContext, told: Mapping[str, Told] = MappingProxyType({})
) -> Roster:
    """The judges and metrics of a catalog, and by benchmark what would fill their empty cells.

    `told` is what each benchmark's site tells of judges: nothing is planned where it tells all.
    """
    cells, judges = Cells(judged, sources), judges_in(judged.catalog)
    asked = {(step.about.name, key.path[0]) for key, step in judged.steps.items() if step.about}
    return Roster(
        datetime.now(UTC).date().isoformat(),
        [Listed(judge.name, _kind(judge), _told(judge)) for judge in judges],
        [Planned(each.name, each.title) for each in benchmarks().values()],
        {
            judge.name: {
                name: gap_of(cells.of(judge, each), asks=(judge.name, name) in asked)
                for name, each in benchmarks().items()
                if not told.get(name, Told()).covers(judge.name)
            }
            for judge in judges
            if not judge.rehearses
        },
    )


def _kind(judge: Model) -> Kind:
    if judge.rehearses:
        return "reference"
    return "judge" if "judge" in judge.roles else "metric"


def _told(judge: Model) -> str:
    """Which model it is, as its provider names it, where the entry's name does not say so."""
    return "" if judge.model == judge.name else f"{judge.backend}: {judge.model}"

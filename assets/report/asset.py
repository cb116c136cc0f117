"""The asset `report` of a benchmark."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pandas as pd
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    DagsterInstance,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)
from pydantic import Field

from assets.kit.spared_requests import RULE
from assets.kit.table_asset import OWNERS, NotMaterialized
from assets.report.benchmark_report import BenchmarkReport, GalleryT, SubjectT
from assets.report.costs import RuleDecisions
from assets.report.publish import Site, publish
from assets.report.revision import revision_facts
from assets.report.site_metadata import build_site_metadata
from assets.report.start_page import write_start_page
from resources.calls.spending import SpendingRow
from resources.calls.store import CallStore
from resources.faults import write_errors
from resources.models.client import ModelClient
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

_DECIDED_BY = "decided_by"


class ReportConfig(Config):
    """The run config of a report."""

    full_size: bool = Field(
        default=False,
        description=(
            "Copy the models' original pictures into the report at full size, beside the smaller "
            "ones on its pages, and link to them. A picture of FLUX takes 1.4 MB."
        ),
    )


@dataclass(frozen=True)
class ReportSources:
    """Sources of a benchmark's report: its tables, what was spent on them, and the config.

    `facts` are the lines of the footer about the report itself: when and by which code.
    """

    group: str
    home: DataRoot
    work_cache: WorkCache
    instance: DagsterInstance
    calls: CallStore
    spent: Sequence[SpendingRow]
    decisions: Sequence[RuleDecisions]
    full_size: bool
    facts: Mapping[str, str]

    def table(self, name: str, partition: str | None = None) -> pd.DataFrame | None:
        """A table of the benchmark, None where it was never materialized; raises `CorruptItem`."""
        return self.home.find(AssetKey([self.group, name]), partition)

    def tables(self, name: str, partitions: Iterable[str]) -> dict[str, pd.DataFrame]:
        """The partitions of a table that were materialized."""
        tables = {partition: self.table(name, partition) for partition in partitions}
        return {partition: table for partition, table in tables.items() if table is not None}

    def concat(
        self, names: Iterable[str], partitions: Sequence[str], columns: list[str]
    ) -> pd.DataFrame:
        """The rows of some tables and partitions, in columns that are there without any row."""
        keys = [AssetKey([self.group, name]) for name in names]
        tables = [
            self.home.find(key, partition, columns) for key in keys for partition in partitions
        ]
        stored = [table for table in tables if table is not None]
        return pd.concat(stored, ignore_index=True) if stored else pd.DataFrame(columns=columns)

    def made_on(self, name: str, partitions: Iterable[str | None] = (None,)) -> str:
        """The day on which the latest of a table's partitions was stored, as in "2026-11-20"."""
        day = self.home.find_latest_date(AssetKey([self.group, name]), partitions)
        return day.isoformat() if day else ""

    def dates(self, step: str, judges: Iterable[str], partitions: Sequence[str]) -> dict[str, str]:
        """The day on which the answers of each judge to a step were stored."""
        return {judge: self.made_on(f"{step}_{judge}", partitions) for judge in judges}


def report_asset(
    group: str,
    site_of: Callable[[ReportSources], Site],
    *,
    deps: Sequence[AssetKey],
    description: str,
) -> AssetsDefinition:
    """The asset `<group>/report`, which publishes what `site_of` makes of the benchmark's tables.

    `site_of` raises `NotMaterialized` where there is nothing to report, and `TablesMismatch` where
    a table is older than what it was made from: a report never mixes two states of a benchmark.
    """

    @asset(
        key_prefix=group,
        group_name=group,
        owners=OWNERS,
        kinds={"python", "html"},
        deps=[AssetDep(key) for key in deps],
        description=f"{description} Published as a static site below the data root, in report/"
        f"{group}.",
        code_version="3",
    )
    def report(
        context: AssetExecutionContext,
        config: ReportConfig,
        home: DataRoot,
        work_cache: WorkCache,
        images: ImageStore,
        models: ModelClient,
    ) -> MaterializeResult[None]:
        started = perf_counter()
        facts = revision_facts()
        spent = [
            entry for entry in models.calls.list_spending() if entry.asset.startswith(f"{group}/")
        ]
        sources = ReportSources(
            group=group,
            home=home,
            work_cache=work_cache,
            instance=context.instance,
            calls=models.calls,
            spent=spent,
            decisions=list_rule_decisions(home, spent),
            full_size=config.full_size,
            facts=facts,
        )
        site = site_of(sources)
        folder = home.path("report", group)
        with write_errors(folder):
            published = publish(folder, site, images.get, facts)
            write_start_page(folder.parent)
        return MaterializeResult(
            data_version=DataVersion(published.version),
            metadata={
                **build_site_metadata(group, site),
                "path": MetadataValue.path(str(published.page)),
                **site.metadata,
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return report


def list_rule_decisions(home: DataRoot, spent: Sequence[SpendingRow]) -> list[RuleDecisions]:
    """List what rules decided in tables on which money was spent, of the steps that have rules."""
    decisions = []
    for name, partition in sorted({(entry.asset, entry.partition) for entry in spent}):
        key = AssetKey(name.split("/"))
        if not home.holds(key, partition or None):
            continue
        table = home.open_table(key, partition or None)
        if _DECIDED_BY not in table.schema.names:
            continue
        counts = Counter(table.to_frame([_DECIDED_BY])[_DECIDED_BY])
        if counts[RULE]:
            decisions.append(RuleDecisions(name, partition, counts[RULE], counts["model"]))
    return decisions


def subjects_report(
    report: BenchmarkReport[SubjectT, GalleryT],
    group: str,
    *,
    names: Callable[[ReportSources], Iterable[str]],
    load: Callable[[ReportSources, str], SubjectT | None],
    extras: Callable[[ReportSources], Mapping[str, Any]] = lambda sources: {},
    table: str,
    deps: Sequence[str] = (),
    description: str,
) -> AssetsDefinition:
    """The asset `<group>/report` of the subjects that there are, as a benchmark declares it.

    `load` gives None for a subject without numbers, and `extras` are more arguments of
    `BenchmarkReport.build`. `table` has the numbers of a subject, and `deps` are further tables.
    """

    def build_site(sources: ReportSources) -> Site:
        loaded = (load(sources, name) for name in names(sources))
        subjects = [subject for subject in loaded if subject is not None]
        if not subjects:
            raise NotMaterialized(
                f"{group}/report: there are no numbers yet. Materialize {group}/{table} first."
            )
        return report.build(
            subjects,
            facts=sources.facts,
            spent=sources.spent,
            decisions=sources.decisions,
            **extras(sources),
        )

    keys = [AssetKey([group, name]) for name in (table, *deps)]
    return report_asset(group, build_site, deps=keys, description=description)

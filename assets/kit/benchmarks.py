"""The benchmarks, found by looking into the folder `assets`.

A benchmark is a package with a `BENCHMARK`. What it says there is all that others know of it: the
definitions, quotes, batches, cassettes, sensors and the demo are made from it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from dagster import AssetChecksDefinition, AssetKey, AssetsDefinition

import assets
from assets.kit.jobs import JobSpec, includes_asset
from assets.kit.leaderboards import Leaderboard
from assets.kit.pairs import PairTable
from assets.kit.partitions import partitions_suffix
from assets.kit.picture_tables import PictureTable
from assets.kit.plan import Planners
from assets.kit.release_cards import ReleaseCard
from assets.kit.release_tables import ReleaseTable
from assets.kit.rerolls import Reroll
from assets.kit.review_forms import ReviewForm
from assets.kit.step import Step, Steps
from assets.kit.step_asset import build_step_asset
from assets.kit.step_planner import build_step_planners
from assets.kit.tuning import TuningTable
from assets.kit.yes_no import YesNoTable
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot

Definition: TypeAlias = AssetsDefinition | AssetChecksDefinition


class StandInRun(NamedTuple):
    """A run that uses stand-ins: the names of assets, their partition, and config by name."""

    assets: Sequence[str]
    partition: str | None = None
    config: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    reads: Sequence[AssetKey] = ()
    """Assets that it reads without edges in the graph."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark; `name` is that of its folder, of its asset group and of its report's folder."""

    name: str
    title: str
    question: str
    """Sentence on what the benchmark measures, shown on start pages."""
    evaluation_version: str = "1"
    """Raised with every change of a prompt to judges, of how replies are read or of their scores:
    results of different versions do not compare."""
    has_items: Callable[[], bool] = lambda: True
    """Whether there is anything to ask about; without, it has no assets."""
    steps: Callable[[Catalog], Iterable[Step[Any]]]
    """The steps that ask the models of a catalog."""
    assets: Callable[[Catalog], Iterable[Definition]]
    """The other assets that depend on a catalog, as tables over all judges; with their checks."""
    job_specs: Sequence[JobSpec] | Callable[[], Sequence[JobSpec]] = ()
    """Named jobs, or a function that builds them if their partitions depend on other benchmarks.
    Empty: one job for each partitioning of its assets."""
    stand_in_runs: Callable[[Catalog, str], Iterable[StandInRun]]
    """The runs that make it small, with a painter that costs nothing, in their order."""
    summarize_demo: Callable[[DataRoot, str], Sequence[Mapping[str, Any]]] = lambda *_: []
    """Summarize the stand-in runs for the demo: for each part its name, then numbers."""
    review_files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Name of the review file that an asset follows, by asset name and then by partition."""
    panel_assets: Sequence[str] = ()
    """Assets that read annotators' files in `<benchmark>/<partition>/<subject>`."""
    review_forms: Sequence[ReviewForm] = ()
    """The forms by which people review its assets, as `counterfactory review` shows them."""
    yes_no_tables: Sequence[YesNoTable] = ()
    """The tables of questions of which other benchmarks can make yes/no cases."""
    pair_tables: Sequence[PairTable] = ()
    """The tables of pairs of pictures that metrics can be trained on."""
    picture_tables: Sequence[PictureTable] = ()
    """The tables of pictures that other benchmarks can use."""
    release_tables: Sequence[ReleaseTable] = ()
    """The tables that its release publishes."""
    demo_release: Sequence[str] = ()
    """Partitions without stand-ins, which the demo releases; empty: the demo releases nothing."""
    leaderboard: Leaderboard | None = None
    """Its number on leaderboards that others keep; None where none is higher for the better."""
    release_card: ReleaseCard = field(default_factory=ReleaseCard)
    """Sentences of its release's data card."""
    tuning_tables: Sequence[TuningTable] = ()
    """Its cases that judges can be fine-tuned on."""
    reroll: Reroll | None = None
    """Its pictures drawn anew; None where another seed makes no equivalent ones."""

    def build_job_specs(self, assets: Mapping[AssetKey, AssetsDefinition]) -> Sequence[JobSpec]:
        """Build the named jobs; leave out those without an existing asset of their partitions."""
        named = self.job_specs() if callable(self.job_specs) else self.job_specs
        if named:
            keyed_assets = assets.items()
            return [
                job_spec
                for job_spec in named
                if any(
                    asset.partitions_def == job_spec.partitions
                    and includes_asset(job_spec, key, asset)
                    for key, asset in keyed_assets
                )
            ]
        partitions_defs = {
            asset.partitions_def for key, asset in assets.items() if key.path[0] == self.name
        }
        return [
            JobSpec(
                job_name=f"{self.name}_{partitions_suffix(partitions_def)}",
                partitions=partitions_def,
                assets=(f"{self.name}/",),
                description=f"{self.question} Makes its assets "
                + ("of these partitions." if partitions_def else "without partitions."),
            )
            for partitions_def in sorted(partitions_defs, key=partitions_suffix)
        ]

    def build_definitions(self, catalog: Catalog) -> list[Definition]:
        """Build the benchmark's assets and checks that depend on a catalog."""
        if not self.has_items():
            return []
        return [*map(build_step_asset, self.steps(catalog)), *self.assets(catalog)]


@cache
def load_benchmarks() -> Mapping[str, Benchmark]:
    """Import all benchmarks; return them by name, sorted by package."""
    packages = sorted(
        module_info.name for module_info in iter_modules(assets.__path__) if module_info.ispkg
    )
    modules = [import_module(f"{assets.__name__}.{name}") for name in packages]
    declared_benchmarks = [module.BENCHMARK for module in modules if hasattr(module, "BENCHMARK")]
    return {benchmark.name: benchmark for benchmark in declared_benchmarks}


def load_used_benchmarks() -> Mapping[str, Benchmark]:
    """The benchmarks that have anything to ask about, by name."""
    return {name: entry for name, entry in load_benchmarks().items() if entry.has_items()}


def list_review_forms() -> list[ReviewForm]:
    """List the forms of all benchmarks."""
    return [form for benchmark in load_benchmarks().values() for form in benchmark.review_forms]


def build_steps(catalog: Catalog) -> Steps:
    """The steps of all benchmarks, by the key of their assets."""
    benchmarks = load_used_benchmarks().values()
    steps = (step for benchmark in benchmarks for step in benchmark.steps(catalog))
    return {step.key: step for step in steps}


def build_job_specs(assets: Mapping[AssetKey, AssetsDefinition]) -> list[JobSpec]:
    """The named jobs of all benchmarks, of those assets that there are."""
    return [
        job_spec
        for benchmark in load_benchmarks().values()
        for job_spec in benchmark.build_job_specs(assets)
    ]


def build_planners(catalog: Catalog) -> Planners:
    """Build the planners that list each asset's requests, for quotes and batches."""
    return build_step_planners(build_steps(catalog))


def build_definitions(catalog: Catalog) -> list[Definition]:
    """Build the definitions of all benchmarks for a catalog."""
    return [
        definition
        for benchmark in load_benchmarks().values()
        for definition in benchmark.build_definitions(catalog)
    ]

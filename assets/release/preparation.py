"""What is known of a release before its files are: its parts, checked rows and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version

from assets.kit.benchmarks import Benchmark
from assets.kit.release_tables import ReleaseInputs, ReleaseTable, add_evaluation_version
from assets.release.answers import StoredAnswers, find_answers
from assets.release.checking import CheckedRows, check_release
from assets.release.contents import (
    Release,
    ReleasedSplit,
    ReleasedTable,
    ReleaseSources,
    Results,
)
from assets.release.options import ReleaseOptions
from assets.release.parts import (
    AssetPart,
    find_parts,
    has_parts,
    list_partitions,
    require_fresh,
)
from assets.release.results import find_results
from assets.release.seeds import build_fresh_seed_commands, find_seeds


@dataclass(frozen=True, kw_only=True)
class PreparedRelease:
    """A release whose rows and answers may leave."""

    benchmark: Benchmark
    sources: ReleaseSources
    options: ReleaseOptions
    parts: Sequence[AssetPart]
    inputs: ReleaseInputs
    answers: StoredAnswers
    checked: CheckedRows
    results: Results
    missing_tables: Sequence[str]
    """Declared tables of which nothing is materialized."""

    @property
    def tables(self) -> Sequence[ReleaseTable]:
        """The tables that have rows."""
        return [t for t in self.benchmark.release_tables if t.config in self.checked.counts]

    def build_release(self, files: Mapping[tuple[str, str], Sequence[str]]) -> Release:
        """Build the release's contents; `files` has the Parquet files by table and split."""
        return Release(
            benchmark=self.benchmark.name,
            title=self.benchmark.title,
            question=self.benchmark.question,
            card=self.benchmark.release_card.select_sentences(self.inputs.partitions),
            version=version("counterfactory"),
            partitions=self.inputs.partitions,
            parts=self.parts,
            seeds=find_seeds(self.sources, self.parts),
            fresh_seed_commands=build_fresh_seed_commands(
                self.sources, self.benchmark.name, self.parts, self.options.partitions
            ),
            licence=self.options.licence,
            licences=self.checked.licences,
            tables=[
                ReleasedTable(
                    declaration=table,
                    splits=[
                        ReleasedSplit(name=split, rows=rows, files=files[table.config, split])
                        for split, rows in self.checked.counts[table.config].items()
                    ],
                    proofs=self.checked.proofs[table.config],
                )
                for table in self.tables
            ],
            missing_tables=self.missing_tables,
            judges=self.answers.judges,
            has_webdataset=self.options.has_webdataset,
            evaluation_version=self.benchmark.evaluation_version,
            leaderboard=self.benchmark.leaderboard,
            results=self.results,
        )


def prepare_release(
    benchmark: Benchmark, sources: ReleaseSources, options: ReleaseOptions
) -> PreparedRelease:
    """Find what a release has, and check all of it.

    Raises `ReleaseRefused`, `StaleTable`, `NotMaterialized`, `StoreError` for a table that is
    damaged, and `ValueError` for an unknown partition or a benchmark without tables.
    """
    if not benchmark.release_tables:
        raise ValueError(
            f"{benchmark.name}: it declares no tables to release. Benchmarks that do have an asset "
            f"release/<name>."
        )
    benchmark = replace(
        benchmark,
        release_tables=[
            add_evaluation_version(table, benchmark.evaluation_version)
            for table in benchmark.release_tables
        ],
    )
    declared = benchmark.release_tables
    parts = find_parts(sources, declared, options.partitions)
    require_fresh(sources, parts)
    benchmark = replace(benchmark, release_tables=[t for t in declared if has_parts(t, parts)])
    inputs = sources.to_inputs(list_partitions(parts))
    answers = find_answers(benchmark, sources, options.partitions)
    return PreparedRelease(
        benchmark=benchmark,
        sources=sources,
        options=options,
        parts=parts,
        inputs=inputs,
        answers=answers,
        results=find_results(benchmark, sources, inputs.partitions),
        missing_tables=[table.config for table in declared if not has_parts(table, parts)],
        checked=check_release(benchmark, sources, inputs, answers, options),
    )

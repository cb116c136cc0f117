"""The check of a release before anything is written: every row, and every stored answer."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from assets.kit.benchmarks import Benchmark
from assets.kit.licences import OWN, PartLicence
from assets.kit.release_tables import Proof, ReleaseInputs
from assets.release.answers import StoredAnswers, describe_secret_answers
from assets.release.contents import ReleaseSources
from assets.release.licences import list_licences
from assets.release.options import ReleaseOptions
from assets.release.refusals import ReleaseRefused, RowCheck
from assets.release.secrets import SecretFinder
from resources.faults import StoreError


class CheckedRows(NamedTuple):
    """Number of rows by table and split, and by table and proof; licences of their parts."""

    counts: Mapping[str, Mapping[str, int]]
    proofs: Mapping[str, Mapping[Proof, int]]
    licences: Sequence[PartLicence]


class RowsRefused(ReleaseRefused):
    """Rows or answers must not leave; the message has a line for each reason."""

    def __init__(
        self, benchmark: Benchmark, problems: Sequence[str], clean_partitions: Sequence[str]
    ) -> None:
        self._name, self._problems, self._partitions = benchmark.name, problems, clean_partitions
        super().__init__(self.format(f"{benchmark.title}: nothing was released.", "--to"))

    def format(self, head: str, option: str) -> str:
        """A message of the problems below `head`; `option` precedes the folder in the command."""
        lines = [head, *(f"- {problem}" for problem in self._problems)]
        if self._partitions:
            lines.append(
                f"Partitions without such rows: counterfactory release {self._name} {option} "
                f"FOLDER --partitions '{','.join(self._partitions)}'"
            )
        return "\n".join(lines)


def check_release(
    benchmark: Benchmark,
    sources: ReleaseSources,
    inputs: ReleaseInputs,
    answers: StoredAnswers,
    options: ReleaseOptions,
) -> CheckedRows:
    """Check all rows and answers; raises `ReleaseRefused` where any must not leave."""
    secrets = SecretFinder(sources.catalog, os.environ)
    licences = list_licences(sources.catalog, options.licence)
    check = RowCheck(secrets, licences)
    _check_rows(benchmark, inputs, check)
    secret_answers = describe_secret_answers(answers, sources, secrets)
    problems = [*check.describe(), *secret_answers]
    if problems:
        # Partitions may have clean rows and secret answers: no command is proposed that may fail.
        clean = [
            partition
            for partition in (() if secret_answers else inputs.partitions)
            if _is_clean(benchmark, inputs, partition, RowCheck(secrets, licences))
        ]
        raise RowsRefused(benchmark, problems, clean)
    if not check.counts:
        raise ReleaseRefused(
            f"{benchmark.title}: nothing was released, as its tables have no rows. Materialize "
            "them with models or settings that leave some."
        )
    part_licences = [licences[part] for part in sorted(check.parts | {OWN})]
    return CheckedRows(check.counts, check.proofs, part_licences)


def _check_rows(benchmark: Benchmark, inputs: ReleaseInputs, check: RowCheck) -> None:
    for table in benchmark.release_tables:
        for split in table.splits:
            for row in table.read_rows(inputs, split):
                check.check(table, split, row)


def _is_clean(benchmark: Benchmark, inputs: ReleaseInputs, partition: str, check: RowCheck) -> bool:
    """Return whether a partition alone has rows, all of which may leave."""
    with suppress(ValueError, StoreError):
        _check_rows(benchmark, inputs._replace(partitions=[partition]), check)
        return bool(check.counts) and not check.describe()
    return False

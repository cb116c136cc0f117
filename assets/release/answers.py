"""Stored answers behind a release: those of its judges that are no stand-ins, as a cassette."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assets.kit.benchmarks import Benchmark
from assets.kit.step import Step
from assets.kit.upstream_calls import collect_calls
from assets.release.contents import ReleaseSources
from assets.release.parts import list_materialized_parts
from assets.release.refusals import Problem, describe_items
from assets.release.secrets import SecretFinder, iterate_texts
from resources.cassette import export_cassette

FILE = "answers.cassette"
_NAMED = 10


class StoredAnswers(NamedTuple):
    """Keys of stored calls, and the judges that answered them."""

    keys: set[str]
    judges: Sequence[str]


def find_answers(
    benchmark: Benchmark, sources: ReleaseSources, partitions: Sequence[str]
) -> StoredAnswers:
    """Find the answers of judges in their tables, of all partitions or the chosen ones."""
    keys, judges = set[str](), dict[str, None]()
    for step in benchmark.steps(sources.catalog):
        judge = step.asset.subject_model
        if judge is None or judge.is_stand_in or "judge" not in judge.roles:
            continue
        for table_keys in _iterate_keys(step, sources, partitions):
            keys |= table_keys
            if table_keys:
                judges[judge.name] = None
    return StoredAnswers(keys, [*judges])


def describe_secret_answers(
    answers: StoredAnswers, sources: ReleaseSources, secrets: SecretFinder
) -> list[str]:
    """Describe the stored calls that hold a secret, by their keys; nothing where none does."""
    problems = dict[str, list[str]]()
    # A call store that nobody needs is not made.
    for call in sources.calls.iterate_calls(answers.keys) if answers.keys else ():
        if secret := secrets.find(iterate_texts([call.request, call.answer])):
            problems.setdefault(secret, []).append(call.key)
    remedy = (
        "Hold the key for leaked, and materialize the judges' tables without it; then "
        "`counterfactory prune --remove --calls` removes these answers."
    )
    return [
        describe_items(
            "stored answer", len(keys), Problem(f"holding {secret}", remedy), keys[:_NAMED]
        )
        for secret, keys in problems.items()
    ]


def write_answers(folder: Path, answers: StoredAnswers, sources: ReleaseSources) -> None:
    """Write the answers' cassette, if there are any; raises as `export_cassette`."""
    if answers.keys:
        export_cassette(folder / FILE, answers.keys, sources.calls, sources.images, {})


def _iterate_keys(
    step: Step[Any], sources: ReleaseSources, partitions: Sequence[str]
) -> Iterator[set[str]]:
    calls, outcome = step.table.calls_column, step.table.outcome_column
    for key, partition in list_materialized_parts(sources, step.key, partitions):
        table = sources.home.find(key, partition, [calls, outcome])
        if table is not None:
            yield collect_calls(table, {calls: outcome})[0]

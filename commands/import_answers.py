"""`counterfactory import-answers`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.completion import complete_benchmarks, complete_judges
from commands.options import parse_file_address
from commands.release_sources import open_release_sources

if TYPE_CHECKING:
    from resources.harness_logs import HarnessLog
    from resources.models.catalog import Catalog, Model

_LISTED = 5


def import_answers(
    log: Annotated[
        Any,
        typer.Argument(
            metavar="LOG",
            help="lmms-eval's `*_samples_*.jsonl`, VLMEvalKit's result file, or inspect_ai's log.",
            parser=parse_file_address,
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Entry of models.yaml with the backend imported; prints the one to add.",
            autocompletion=complete_judges,
        ),
    ],
    benchmark: Annotated[
        str,
        typer.Option(
            "--benchmark",
            "-b",
            metavar="NAME",
            help="Benchmark that was released.",
            autocompletion=complete_benchmarks,
        ),
    ] = "vlmbias",
) -> None:
    """Make the replies in another harness's log answers of a judge. Sends nothing.

    Rows are matched by their id; if one is unfit, nothing is imported. Example:

        counterfactory import-answers 20261128_samples_counterfactory.jsonl --judge gpt_4_1_lmms
    """
    from resources.models.entry import require_asset_name

    try:
        require_asset_name(judge)
    except ValueError as problem:
        raise ValueError(f"--judge {problem}.") from None

    from assets.planning.judge_quote import find_benchmarks
    from assets.release.answer_import import import_answers as store_answers
    from definitions import catalog
    from resources.harness_logs import read_harness_log

    (chosen,) = find_benchmarks([benchmark])
    read = read_harness_log(log)
    model = _find_entry(catalog, judge, read)
    with open_release_sources() as sources:
        done = store_answers(read, chosen, model, sources)
    typer.echo(
        f"{log}: {read.harness}, {done.answers:,} answers, new here: {done.new:,}, of "
        f"{done.questions:,} questions. See the report by: counterfactory judge {judge} "
        f"--benchmark {benchmark}"
    )
    limit = f"{read.max_tokens:,} tokens" if read.max_tokens else "the limit of tokens"
    _warn(done.cut, f"cut off at {limit}, so that an answer may be missing: run with more")
    _warn(
        done.doubles, "are to a question that another row asks about the same picture, and not used"
    )
    _warn(done.failed, "failed in the harness, and count as missing")


def _find_entry(catalog: "Catalog", name: str, log: "HarnessLog") -> "Model":
    """The judge's entry; raises `ValueError` with the one to add."""
    from resources.models.known_models import find_family

    for model in catalog.models:
        if model.name == name:
            return model
    family = find_family(log.model) if log.model else "other"
    lines = [
        f"- name: {name}",
        "  backend: imported",
        f"  model: {name}  # unique: answers are stored by it",
        f"  family: {family}",
        "  roles: [judge]",
    ]
    entry = "\n".join(lines)
    raise ValueError(
        f"{name!r} is not in {catalog.path}. Add this there, and import again:\n\n{entry}"
    )


def _warn(rows: Sequence[str], problem: str) -> None:
    if rows:
        names = ", ".join(rows[:_LISTED]) + (", …" if len(rows) > _LISTED else "")
        typer.echo(f"{len(rows):,} replies {problem}: {names}.", err=True)

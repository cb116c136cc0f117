"""`counterfactory scores`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.completion import complete_judges
from commands.tables import build_table, print_table

if TYPE_CHECKING:
    import pandas as pd

    from metrics.vlmbias.harness_table import HarnessComparison


def scores(
    judge: Annotated[
        str,
        typer.Argument(
            metavar="JUDGE",
            help="A judge that has answered VLMBias.",
            autocompletion=complete_judges,
        ),
    ],
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", dir_okay=False, help="CSV to write: each answer scored otherwise."
        ),
    ] = None,
) -> None:
    """Show what lmms-eval, VLMEvalKit, evalscope and inspect_ai would print for a judge's answers.

    Beside them stand our numbers and the paper's way to count, and why they differ. Sends nothing.
    Example:

        counterfactory scores gpt_4_1 --items differences.csv
    """
    from metrics.vlmbias.harness_table import compare_harnesses

    answers = _load_answers(judge)
    comparison = compare_harnesses(answers)
    if items is not None:
        _require_replaceable(items, comparison.differences)
    topics = ", ".join(dict.fromkeys(answers["domain"]))
    _print_numbers(judge, topics, comparison)
    _print_differences(comparison)
    if items is not None:
        _write_items(items, comparison.differences)


def _load_answers(judge: str) -> "pd.DataFrame":
    """Load a judge's answers; the error names models.yaml if it lacks the judge."""
    from assets.kit.table_asset import NotMaterialized
    from assets.vlmbias.common import answers_key
    from assets.vlmbias.harness_answers import load_judge_answers
    from resources.settings.locations import find_data_root
    from resources.storage.data_root import DataRoot

    try:
        return load_judge_answers(DataRoot(root=str(find_data_root())), judge)
    except NotMaterialized as error:
        from definitions import by_key, catalog

        if answers_key(judge) in by_key:
            raise
        raise NotMaterialized(f"{error} For either, add {judge} to {catalog.path}.") from None


def _print_numbers(judge: str, topics: str, comparison: "HarnessComparison") -> None:
    heads = ("accuracy>", "bias rate>", "by topic: accuracy>", "bias rate>")
    title = f"{judge}: VLMBias, Q1 and Q2 ({topics})"
    table = build_table("harness", "answers>", *heads, "scored otherwise>", title=title)
    rates = ("accuracy", "bias_rate", "topic_accuracy", "topic_bias_rate")
    for row in comparison.numbers.to_dict("records"):
        percents = ["–" if row[rate] != row[rate] else f"{100 * row[rate]:.1f} %" for rate in rates]
        different = f"{row['different_answers']:,}" if row["different_answers"] else ""
        table.add_row(row["harness"], f"{row['answers']:,}", *percents, different)
    print_table(table)


def _print_differences(comparison: "HarnessComparison") -> None:
    for (harness, reason), rows in comparison.differences.groupby(
        ["harness", "reason"], sort=False
    ):
        reply = " ".join(rows["response"].iloc[0].split())
        example = f'"{reply[:60]}…"' if len(reply) > 60 else f'"{reply}"'
        typer.echo(f"{harness} {reason}: {len(rows):,}, as in {example}.")
    if comparison.long_replies:
        typer.echo(
            f"lmms-eval ends a reply after 32 tokens: {comparison.long_replies:,} replies have "
            "more words, and may lose their answer in a run of its own."
        )


def _require_replaceable(file: Path, differences: "pd.DataFrame") -> None:
    """Raise `ValueError` if a file has another first line than `_write_items` gives it."""
    from resources.user_files.spreadsheets import format_csv

    if not file.is_file():
        return
    own_head = format_csv(list(differences.columns), [])
    try:
        with file.open(encoding="utf-8", errors="replace", newline="") as lines:
            head = lines.readline(len(own_head) + 1)
    except OSError as error:
        raise ValueError(
            f"{file} is there and cannot be read ({error.strerror}): name another file."
        ) from None
    if head and head != own_head:
        raise ValueError(f"{file} is there and is no file of --items: name another file.")


def _write_items(file: Path, differences: "pd.DataFrame") -> None:
    from assets.kit.columns import to_records
    from resources.user_files.spreadsheets import format_csv

    rows = to_records(differences)
    try:
        file.write_text(format_csv(list(differences.columns), rows), "utf-8")
    except OSError as error:
        raise ValueError(
            f"{file}: cannot be written ({error.strerror}). Choose another file with --items."
        ) from error
    typer.echo(f"{file}: {len(rows):,} answers that are scored otherwise.")

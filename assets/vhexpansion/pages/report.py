"""The report: its measure, its finding, and each judge's symmetric accuracy."""

from collections.abc import Iterator
from pathlib import Path

from assets.kit.step_run import Row
from assets.report.benchmark_report import BenchmarkReport
from assets.report.exhibits import list_failures, list_thumbnails
from assets.report.formats import format_count, format_whole_percent, read_rate
from assets.report.standings import Measure, Standing
from assets.report.start_page import no_ranking_sentence, trial_sentence
from assets.report.subjects import firmest_first
from assets.report.thinking import GAIN
from assets.vhexpansion.common import QUESTION, TITLE
from assets.vhexpansion.pages import charts, mitigation, paper, tables
from assets.vhexpansion.pages.dataset_page import AnsweredDataset, describe_training, format_bounds
from assets.vhexpansion.pages.gallery import gallery

SYMMETRIC = Measure(
    "Symmetric accuracy",
    "higher",
    "share",
    "The share of yes/no questions that are answered right as they stand and negated as well.",
)


def format_scope(dataset_name: str) -> str:
    """Write the scope of a dataset's standings."""
    return f"questions of {dataset_name}"


def _sentence(dataset: AnsweredDataset) -> str:
    """The judge whose accuracy promises most; without results the only judge, or the reasons."""
    if dataset.ranked:
        return _numbers(dataset, max(dataset.ranked, key=_distance))
    rows = [*dataset.clean_rows.values()]
    if len(rows) == 1 and rows[0]["symmetric"] is not None:
        reasons = dataset.reasons[str(rows[0]["model"])]
        return trial_sentence(reasons, _numbers(dataset, rows[0]))
    return no_ranking_sentence(dataset.name, dataset.reasons)


def _distance(row: Row) -> float:
    """Distance of accuracy and symmetric accuracy; 0 without an answered pair."""
    return float(row["accuracy"] - row["symmetric"]) if row["symmetric"] is not None else 0.0


def _numbers(dataset: AnsweredDataset, row: Row) -> str:
    """Shares of cases that are right, and right with their negations."""
    accuracy, symmetric = (format_whole_percent(row[name]) for name in ("accuracy", "symmetric"))
    lacking = ""
    if row["unanswered"]:
        unanswered = f"{format_count(row['unanswered'])} of {format_count(row['requests'])}"
        lacking = f"; {unanswered} requests have no answer"
    return (
        f"{row['model']} answers {accuracy} of the questions of {dataset.name} right, and "
        f"{symmetric} of them together with their negations{lacking}."
    )


def _standings(dataset: AnsweredDataset) -> Iterator[Standing]:
    """The symmetric accuracy of every judge on pictures as they were, and its gain by thinking."""
    for judge, row in dataset.clean_rows.items():
        left_out = "" if row["left_out"] is None else describe_training(row)
        yield dataset.standing(
            judge,
            SYMMETRIC,
            dataset.evidence(row),
            read_rate(row, "symmetric"),
            items=int(row["cases"]),
            unit="cases",
            section="cases",
            scope=format_scope(dataset.name),
            notes=[left_out, format_bounds(row, "symmetric")],
        )
    yield from dataset.thinking.list_gains(dataset, format_scope(dataset.name))


REPORT = BenchmarkReport(
    title=TITLE,
    question=QUESTION,
    templates=Path(__file__).parent / "templates",
    sections=("Datasets", "Judges", "Paper", "Costs"),
    values={
        "tables": tables,
        "charts": charts,
        "paper": paper,
        "mitigation": mitigation,
        "tuned": None,
    },
    order=lambda datasets: firmest_first(datasets, key=lambda dataset: -dataset.cases),
    stand_in_sentence="A stand-in run: judges or pictures are stand-ins, and no figure is a "
    "result.",
    sentence=_sentence,
    gallery=gallery,
    thumbnails=list_thumbnails,
    published=paper.load_published(),
    place=4,
    measures=[SYMMETRIC, GAIN],
    standings=_standings,
    failures=list_failures,
)

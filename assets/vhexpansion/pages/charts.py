"""The charts: right on cases and on pairs with their negations, by judge and by perturbation."""

from assets.report.charts import SCORES, Bar, Chart, Mark
from assets.report.formats import Rate, format_score, format_score_interval, read_rate
from assets.vhexpansion.pages.dataset_page import SHORT, AnsweredDataset
from assets.vhexpansion.yes_no_step import NONE


def accuracies(dataset: AnsweredDataset) -> Chart:
    """Accuracy and symmetric accuracy of each judge on pictures as they were."""
    bars = []
    for judge in dataset.judges:
        row = dataset.find_clean_row(judge)
        accuracy, symmetric = read_rate(row, "accuracy"), read_rate(row, "symmetric")
        marks = [
            Mark("accuracy", accuracy, f"cases {format_score(accuracy.value, 3)}"),
            Mark("failure", symmetric, f"pairs {format_score(symmetric.value, 3)}"),
        ]
        spoken = ", ".join(
            f"{mark.text} {format_score_interval(mark.rate, 3)}".strip() for mark in marks
        )
        lacking = ""
        if accuracy.value is None and symmetric.value is None:
            lacking = "not asked" if row is None else "no answer"
        bars.append(Bar(judge, marks, spoken, lacking))
    description = "share of cases, and of pairs of a case and its negation, that is answered right"
    return Chart(f"pairs-{dataset.name}", dataset.name, description, SCORES, bars)


def perturbations(dataset: AnsweredDataset, judge: str) -> Chart:
    """A judge's symmetric accuracy under each common perturbation."""
    bars = [
        _bar(SHORT[name], read_rate(row, "symmetric"))
        for name in (NONE, *dataset.common)
        for row in dataset.select_rows(judge, name)
    ]
    description = "share of pairs of a case and its negation that is answered right"
    return Chart(f"perturbations-{judge}", judge, description, SCORES, bars)


def _bar(label: str, both: Rate) -> Bar:
    text = format_score(both.value, 3)
    lacking = "no answer" if both.value is None else ""
    spoken = f"{text} {format_score_interval(both, 3)}".strip()
    return Bar(label, [Mark("failure", both, text)], spoken, lacking)

"""The charts: right on cases and on pairs with their negations, by judge and by perturbation."""

from assets.report.charts import SCORES, Bar, Chart, Mark
from assets.report.formats import Rate, read_rate, score, score_interval
from assets.vhexpansion.pages.dataset_page import SHORT, Answered
from assets.vhexpansion.yes_no_step import NONE


def accuracies(dataset: Answered) -> Chart:
    """Accuracy and symmetric accuracy of each judge on pictures as they were."""
    bars = []
    for judge in dataset.judges:
        row = dataset.clean(judge)
        one, both = read_rate(row, "accuracy"), read_rate(row, "symmetric")
        marks = [
            Mark("accuracy", one, f"cases {score(one.value, 3)}"),
            Mark("failure", both, f"pairs {score(both.value, 3)}"),
        ]
        spoken = ", ".join(f"{mark.text} {score_interval(mark.rate, 3)}".strip() for mark in marks)
        lacking = ""
        if one.value is None and both.value is None:
            lacking = "not asked" if row is None else "no answer"
        bars.append(Bar(judge, marks, spoken, lacking))
    about = "share of cases, and of pairs of a case and its negation, that is answered right"
    return Chart(f"pairs-{dataset.name}", dataset.name, about, SCORES, bars)


def perturbations(dataset: Answered, judge: str) -> Chart:
    """A judge's symmetric accuracy under each common perturbation."""
    bars = [
        _bar(SHORT[name], read_rate(row, "symmetric"))
        for name in (NONE, *dataset.common)
        for row in dataset.under(judge, name)
    ]
    about = "share of pairs of a case and its negation that is answered right"
    return Chart(f"perturbations-{judge}", judge, about, SCORES, bars)


def _bar(label: str, both: Rate) -> Bar:
    text = score(both.value, 3)
    lacking = "no answer" if both.value is None else ""
    spoken = f"{text} {score_interval(both, 3)}".strip()
    return Bar(label, [Mark("failure", both, text)], spoken, lacking)

"""The charts: right on cases and on pairs with their negations, by judge and by perturbation."""

from assets.report.charts import PERCENT, Bar, Chart
from assets.report.formats import format_count, read_rate
from assets.vhexpansion.pages.dataset_page import SHORT, AnsweredDataset
from assets.vhexpansion.yes_no_step import NONE


def accuracies(dataset: AnsweredDataset) -> Chart:
    """Accuracy and symmetric accuracy of each judge on pictures as they were."""
    bars = []
    for judge in dataset.judges:
        row = dataset.find_clean_row(judge)
        accuracy, symmetric = read_rate(row, "accuracy"), read_rate(row, "symmetric")
        lacking = ""
        if accuracy.value is None and symmetric.value is None:
            lacking = "not asked" if row is None else "no answer"
        bars.append(
            Bar.build(
                f"{judge}, {format_count(int(row['cases']))} cases" if row else judge,
                {"cases": ("accuracy", accuracy), "pairs": ("failure", symmetric)},
                note=lacking,
            )
        )
    description = "share of cases, and of pairs of a case and its negation, that is answered right"
    return Chart(f"pairs-{dataset.name}", dataset.name, description, PERCENT, bars)


def perturbations(dataset: AnsweredDataset, judge: str) -> Chart:
    """A judge's symmetric accuracy under each common perturbation."""
    bars = [
        Bar.build(
            SHORT[name], {"": ("failure", rate)}, note="no answer" if rate.value is None else ""
        )
        for name in (NONE, *dataset.common)
        for rate in (read_rate(row, "symmetric") for row in dataset.select_rows(judge, name))
    ]
    description = "share of pairs of a case and its negation that is answered right"
    return Chart(f"perturbations-{judge}", judge, description, PERCENT, bars)

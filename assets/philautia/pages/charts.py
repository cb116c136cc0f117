"""The charts: preference of each judge for its own captions, and the scores of one caption."""

from assets.philautia.examples import PreferenceExample
from assets.philautia.pages.dataset_page import SAID, Compared
from assets.report.charts import Bar, Chart, Mark, changes
from assets.report.formats import Rate, read_rate, score

POINTS = ("0", "25", "50", "75", "100")


def self_preference(dataset: Compared, setting: str) -> Chart:
    """What each judge gives its own captions beyond what others would, in points."""
    rates = {
        row["generator"]: (read_rate(row, "preference"), "no value")
        for row in dataset.models(setting)
    }
    about = "points that a judge gives its own captions more than others would"
    title = f"{dataset.name}, {SAID[setting]}: points of 100"
    return changes(f"own-{setting}", title, about, rates, spoken_unit=" points")


def scores(example: PreferenceExample, number: int) -> Chart:
    """What each judge gave a caption, and what it gives on average."""
    bars = []
    for judge, given in example.scores.items():
        mean = example.means[judge]
        marks = [
            Mark("accuracy", _at(given), points(given)),
            Mark("failure", _at(mean), f"mean {points(mean)}"),
        ]
        own = f"{judge}, its own" if judge == example.model else judge
        lacking = "no score" if given is None else ""
        bars.append(Bar(own, marks, ", ".join(mark.text for mark in marks), lacking))
    about = "score of the caption, and mean score of all captions, 0 to 100"
    return Chart(f"scores-{number}", f"Scores of a caption by {example.model}", about, POINTS, bars)


def points(value: float | None) -> str:
    """`71`, `63.4`."""
    return score(value, 1).removesuffix(".0")


def _at(value: float | None) -> Rate:
    share = None if value is None else value / 100
    return Rate(share, share, share)

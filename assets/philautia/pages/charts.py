"""The charts: preference of each judge for its own captions, and the scores of one caption."""

from assets.philautia.common import LESS, MORE
from assets.philautia.examples import PreferenceExample
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset
from assets.report.charts import Bar, Chart, Mark, changes
from assets.report.formats import Rate, format_score, read_rate

POINTS = ("0", "25", "50", "75", "100")


def self_preference(dataset: ComparedDataset, setting: str) -> Chart:
    """Points that each judge gives its own captions beyond what others would."""
    rates = {
        row["generator"]: (read_rate(row, "preference"), "no value")
        for row in dataset.models(setting)
    }
    description = "points that a judge gives its own captions more than others would"
    title = f"{dataset.name}, {SETTING_WORDS[setting]}: points of 100"
    return changes(
        f"own-{setting}",
        title,
        description,
        rates,
        spoken_unit=" points",
        left_label=LESS,
        right_label=MORE,
    )


def scores(example: PreferenceExample, number: int) -> Chart:
    """Draw each judge's score of a caption beside the judge's mean score."""
    bars = []
    for judge, caption_score in example.scores.items():
        mean = example.means[judge]
        marks = [
            Mark("accuracy", _to_share(caption_score), points(caption_score)),
            Mark("failure", _to_share(mean), f"mean {points(mean)}"),
        ]
        label = f"{judge}, its own" if judge == example.model else judge
        lacking = "no score" if caption_score is None else ""
        bars.append(Bar(label, marks, ", ".join(mark.text for mark in marks), lacking))
    description = "score of the caption, and mean score of all captions, 0 to 100"
    return Chart(
        f"scores-{number}", f"Scores of a caption by {example.model}", description, POINTS, bars
    )


def points(value: float | None) -> str:
    """`71`, `63.4`."""
    return format_score(value, 1).removesuffix(".0")


def _to_share(value: float | None) -> Rate:
    share = None if value is None else value / 100
    return Rate(share, share, share)

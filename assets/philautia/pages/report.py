"""The report: its measure, its finding, and each judge's preference for captions of its own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from assets.kit.step_run import Row
from assets.philautia.common import LESS, MORE, QUESTION, TITLE
from assets.philautia.pages import charts, panels, paper, tables
from assets.philautia.pages.dataset_page import SETTING_WORDS, ComparedDataset, is_partial
from assets.philautia.pages.gallery import gallery
from assets.report.benchmark_report import BenchmarkReport
from assets.report.exhibits import list_failures, list_thumbnails
from assets.report.formats import read_rate
from assets.report.standings import Measure, Standing
from assets.report.start_page import no_ranking_sentence
from assets.report.subjects import firmest_first

SELF_PREFERENCE = Measure(
    "Self-preference",
    "near 0",
    "points",
    "Points of 100 that a judge gives captions of its own more than others would.",
    unit="points of 100",
    left_label=LESS,
    right_label=MORE,
)
_SCALE = 100
"""Points of the scale, as parts of which standings are written."""
_MOST_P = 0.05
"""Largest p of a permutation test that the finding counts on.

Intervals take the models as they are: above it they cannot tell a preference for one's own captions
from one for what happens to be another's."""


def sentence(dataset: ComparedDataset) -> str:
    """The finding on the first setting, or the reasons why no judge is ranked."""
    if ranked := dataset.ranked(dataset.setting):
        return _result(dataset, dataset.setting, ranked)
    return no_ranking_sentence(dataset.name, dataset.reasons)


def _result(dataset: ComparedDataset, setting: str, models: Sequence[Row]) -> str:
    """The points that the most partial judge gives its own captions, and how many are partial."""
    partial = [row for row in models if is_partial(row)]
    place = f"on {dataset.name}, {SETTING_WORDS[setting]}"
    if not partial:
        several = f"None of {len(models)} judges is" if len(models) > 1 else "The judge is not"
        return f"{several} seen to prefer captions of its own {place}."
    worst = max(partial, key=lambda row: float(row["preference"]))
    finding = (
        f"{worst['generator']} gives its own captions {worst['preference']:.1f} points more than "
        f"others would, of 100, {place}"
    )
    if len(models) == 1:
        return f"{finding}."
    finding = f"{finding}; {len(partial)} of {len(models)} judges prefer their own."
    test = dataset.test_of_self(setting)
    # Of a single partial judge a matching in so many leaves it its own: no test could show it.
    if len(partial) < 2 or test is None or test["p"] is None or test["p"] <= _MOST_P:
        return finding
    return (
        f"{finding} On the whole that may be chance: matching writers and judges anew gives as "
        f"much in {test['p']:.0%} of ways.".replace("%", "\u00a0%")
    )


def _standings(dataset: ComparedDataset) -> Iterator[Standing]:
    """The self-preference of every judge in every setting."""
    for setting in dataset.settings:
        for judge in dataset.names(setting)[1]:
            evidence = dataset.evidence(setting, judge)
            yield dataset.standing(
                judge,
                SELF_PREFERENCE,
                evidence,
                read_rate(dataset.find_own_row(setting, judge), "preference", _SCALE),
                items=evidence.units,
                unit="pictures",
                section="own",
                scope=f"captions of {dataset.name}, {SETTING_WORDS[setting]}",
            )


REPORT = BenchmarkReport(
    title=TITLE,
    question=QUESTION,
    templates=Path(__file__).parent / "templates",
    sections=("Datasets", "Judges", "Panels", "Costs"),
    values={
        "tables": tables,
        "charts": charts,
        "panels": panels,
        "paper": paper,
        "setting_words": SETTING_WORDS,
    },
    order=lambda datasets: firmest_first(datasets, key=lambda dataset: -dataset.images),
    stand_in_sentence="A stand-in run: judges and captions are stand-ins, and no figure is a "
    "result.",
    sentence=sentence,
    gallery=gallery,
    thumbnails=list_thumbnails,
    published=paper.load_published(),
    place=5,
    measures=[SELF_PREFERENCE],
    standings=_standings,
    failures=list_failures,
)
